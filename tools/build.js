import { cpSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root, run, runStep } from './step.js'

// Builds the library (build, dist), the receiver and its page. What does not wait for another step runs beside it. Where the development
// dependencies are not installed, as for `npm run demo`, types are neither checked nor written, and nothing is
// shortened.
const folder = fileURLToPath(root)
const build = join(folder, 'build')
const dist = join(folder, 'dist')
const hasTools = existsSync(join(folder, 'node_modules/typescript/package.json'))

process.exitCode = await runStep('Building', () =>
  beside([hasTools ? library : quickly, () => node('tools/bundle-page.js')]),
)

/** @typedef {import('./step.js').Outcome} Outcome */

/** @returns {Promise<Outcome>} */
async function library() {
  const compiled = await compile('tsconfig.build.json')
  if (compiled.status !== 0) return compiled
  const isType = (/** @type {string} */ path) => statSync(path).isDirectory() || path.endsWith('.d.ts')
  cpSync(build, dist, { recursive: true, filter: isType })
  return await beside([() => node('tools/bundle.js'), () => compile('packages/receiver/tsconfig.build.json')])
}

/** @returns {Promise<Outcome>} */
async function quickly() {
  mkdirSync(dist, { recursive: true })
  await Promise.all([transpile('src', 'build'), transpile('packages/receiver/src', 'packages/receiver/dist')])
  return await node('tools/bundle.js', '--quick')
}

/** @param {readonly (() => Promise<Outcome>)[]} steps @returns {Promise<Outcome>} */
async function beside(steps) {
  const outcomes = await Promise.all(steps.map((step) => step()))
  return { status: Math.max(...outcomes.map(({ status }) => status)), said: outcomes.map(({ said }) => said).join('') }
}

/** @param {readonly string[]} args */
function node(...args) {
  return run({ command: process.execPath, args, folder })
}

/** Checks and writes the modules and types of a project. @param {string} project */
function compile(project) {
  return node('node_modules/typescript/bin/tsc', '-p', project)
}

/**
 * Writes the modules of a folder as JavaScript, one for one.
 * @param {string} from
 * @param {string} to
 */
async function transpile(from, to) {
  const { build } = await import('esbuild')
  const files = readdirSync(join(folder, from), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  )
  await build({
    absWorkingDir: folder,
    entryPoints: files.map((path) => join(from, path)),
    outbase: from,
    outdir: to,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  })
}
