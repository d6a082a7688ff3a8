import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Installs what package-lock.json names, unless it is installed already, so that `npm test` and `npm run demo` need nothing before them.
const root = new URL('../', import.meta.url)
const age = (/** @type {string} */ path) => statSync(new URL(path, root), { throwIfNoEntry: false })?.mtimeMs

const installed = age('node_modules/.package-lock.json')
if (installed === undefined || installed < (age('package-lock.json') ?? 0)) {
  process.stderr.write('Installing the dependencies (npm ci) …\n')
  const npm = process.env.npm_execpath
  const [command, args] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  const { status } = spawnSync(command, [...args, 'ci', '--loglevel=error'], {
    cwd: fileURLToPath(root),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) {
    process.stderr.write('npm ci failed\n')
    process.exitCode = status ?? 1
  }
}
