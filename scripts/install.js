import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { npm, root, runStep } from './step.js'

// Installs what package-lock.json names, unless it is installed already, so that `npm test` and `npm run demo` need nothing before them.
// Arguments are folders with a package-lock.json of their own, beside the root's.

/** @param {URL} folder */
async function install(folder) {
  const age = (/** @type {string} */ path) => statSync(new URL(path, folder), { throwIfNoEntry: false })?.mtimeMs
  const installed = age('node_modules/.package-lock.json')
  if (installed !== undefined && installed >= (age('package-lock.json') ?? 0)) return
  const where = folder === root ? '' : ` in ${folder.pathname.slice(root.pathname.length)}`
  const title = `Installing the dependencies (npm ci)${where}`
  const status = await runStep(title, { ...npm(['ci', '--loglevel=error']), folder: fileURLToPath(folder) })
  if (status === 0) return
  process.stderr.write('npm ci failed\n')
  process.exitCode = status
}

await install(root)
for (const folder of process.argv.slice(2)) await install(new URL(`${folder}/`, root))
