import { existsSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { npm, root, run, runStep } from './step.js'

// Installs what package-lock.json names, unless it is installed already, so that `npm test` and `npm run demo` need nothing before them.
// Arguments are folders with a package-lock.json of their own, beside the root's. With --omit=dev the development dependencies may be
// missing: they are most of the packages. Whatever needs them, and runs this without the option, installs them then.
const omit = '--omit=dev'
const words = process.argv.slice(2)
const folders = words.filter((word) => word !== omit)

/**
 * @param {URL} folder
 * @param {object} [options]
 * @param {boolean} [options.mayOmit]
 */
async function install(folder, { mayOmit = false } = {}) {
  const age = (/** @type {string} */ path) => statSync(new URL(path, folder), { throwIfNoEntry: false })?.mtimeMs
  const installed = age('node_modules/.package-lock.json')
  const hasTools = toolsOf(folder).every((name) => existsSync(new URL(`node_modules/${name}/package.json`, folder)))
  const isNew = installed !== undefined && installed >= (age('package-lock.json') ?? 0)
  if (isNew && (hasTools || mayOmit)) return
  // Where the tools are there, they stay.
  const command = mayOmit && !hasTools ? ['ci', omit] : ['ci']
  const where = folder === root ? '' : ` in ${folder.pathname.slice(root.pathname.length)}`
  const title = `Installing the dependencies (npm ${command.join(' ')})${where}`
  const attempt = (/** @type {string[]} */ ...options) =>
    run({ ...npm([...command, '--ignore-scripts', '--loglevel=error', ...options]), folder: fileURLToPath(folder) })
  const status = await runStep(title, async () => {
    // npm asks the registry about no package that its cache describes. A cache may be too old to know a version.
    const outcome = await attempt('--prefer-offline')
    return outcome.said.includes('ETARGET') ? attempt() : outcome
  })
  if (status === 0) return
  process.stderr.write('npm ci failed\n')
  process.exitCode = status
}

/** The development dependencies of a folder. @param {URL} folder @returns {string[]} */
function toolsOf(folder) {
  return Object.keys(JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')).devDependencies ?? {})
}

await install(root, { mayOmit: words.includes(omit) })
for (const folder of folders) await install(new URL(`${folder}/`, root))
