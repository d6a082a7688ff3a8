import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root, run, runStep } from './step.js'

// Builds the library (build, dist), the packages beside it, and the receiver's page. What does not wait for another step runs beside it. Where the development
// dependencies are not installed, as for `npm run demo`, types are neither checked nor written, and nothing is
// shortened.
const folder = fileURLToPath(root)
const build = join(folder, 'build')
const dist = join(folder, 'dist')
const hasTools = existsSync(join(folder, 'node_modules/typescript/package.json'))

process.exitCode = await runStep('Building', () =>
  beside([hasTools ? library : quickly, packages, () => node('scripts/bundle-page.js')]),
)

/** @typedef {import('./step.js').Outcome} Outcome */

/** @returns {Promise<Outcome>} */
async function library() {
  const compiled = await compile('tsconfig.build.json')
  if (compiled.status !== 0) return compiled
  const isType = (/** @type {string} */ path) => statSync(path).isDirectory() || path.endsWith('.d.ts')
  cpSync(build, dist, { recursive: true, filter: isType })
  return await beside([() => node('scripts/bundle.js'), receiverTypes])
}

/** @returns {Promise<Outcome>} */
async function quickly() {
  mkdirSync(dist, { recursive: true })
  await transpile('src', 'build')
  return await node('scripts/bundle.js', '--quick')
}

/**
 * The packages beside the library, with what they need of its source. The receiver keeps its modules, one file each: its workers have URLs.
 *
 * @returns {Promise<Outcome>}
 */
async function packages() {
  const { build } = await import('esbuild')
  /** @type {import('esbuild').BuildOptions} */
  const common = {
    absWorkingDir: folder,
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
  }
  const receiver = join(folder, 'receiver/src')
  const isOfReceiver = (/** @type {string} */ path) => !relative(receiver, path).startsWith('..')
  await Promise.all([
    build({ ...common, entryPoints: ['packages/tools/src/cli.ts'], outdir: 'packages/tools/dist' }),
    build({
      ...common,
      entryPoints: modulesIn('receiver/src'),
      outdir: 'receiver/dist',
      chunkNames: 'library/[hash]',
      plugins: [
        {
          name: 'modules of the receiver stay',
          setup({ onResolve }) {
            onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir }) =>
              kind !== 'entry-point' && isOfReceiver(join(resolveDir, path)) ? { path, external: true } : undefined,
            )
          },
        },
      ],
    }),
  ])
  return { status: 0, said: '' }
}

/** Types of the receiver. Those of the library's source, which come with them, are not in the package. @returns {Promise<Outcome>} */
async function receiverTypes() {
  const compiled = await compile('receiver/tsconfig.build.json')
  cpSync(join(build, 'types/receiver/src'), join(folder, 'receiver/dist'), { recursive: true })
  rmSync(join(build, 'types'), { recursive: true })
  return compiled
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
  await build({
    absWorkingDir: folder,
    entryPoints: modulesIn(from),
    outbase: from,
    outdir: to,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  })
}

/** @param {string} from */
function modulesIn(from) {
  const paths = readdirSync(join(folder, from), { recursive: true, encoding: 'utf8' })
  return paths.filter((path) => path.endsWith('.ts')).map((path) => join(from, path))
}
