import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Installs what package-lock.json names, unless it is installed already, so that `npm test` and `npm run demo` need nothing before them.
// Arguments are folders with a package-lock.json of their own, beside the root's.
const root = new URL('../', import.meta.url)

/** @param {URL} folder */
function install(folder) {
  const age = (/** @type {string} */ path) => statSync(new URL(path, folder), { throwIfNoEntry: false })?.mtimeMs
  const installed = age('node_modules/.package-lock.json')
  if (installed !== undefined && installed >= (age('package-lock.json') ?? 0)) return
  const where = folder === root ? '' : ` in ${folder.pathname.slice(root.pathname.length)}`
  process.stderr.write(`Installing the dependencies (npm ci)${where} …\n`)
  const npm = process.env.npm_execpath
  const [command, args] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  const { status } = spawnSync(command, [...args, 'ci', '--loglevel=error'], {
    cwd: fileURLToPath(folder),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) {
    process.stderr.write('npm ci failed\n')
    process.exitCode = status ?? 1
  }
}

install(root)
for (const folder of process.argv.slice(2)) install(new URL(`${folder}/`, root))
