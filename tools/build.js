import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { buildPage } from './build-page.js'
import { root, run, runStep } from './step.js'

// Builds the library, the packages beside it and the receiver's page: esbuild writes the code, tsc the types. Where TypeScript is not
// installed, as for `npm run demo`, there are no types.
const folder = fileURLToPath(root)
const hasTypeScript = existsSync(join(folder, 'node_modules/typescript/package.json'))

/** @type {import('esbuild').BuildOptions} */
const common = {
  absWorkingDir: folder,
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: 'node20',
  format: 'esm',
  outdir: 'dist',
  logLevel: 'warning',
}
const entries = ['index', 'pino', 'winston', 'register', 'content', 'testing', 'metrics', 'cli']
const packages = ['receiver', 'opentelemetry', 'tools']

process.exitCode = await runStep('Building', async () => {
  const outputs = ['dist', ...packages.map((name) => `packages/${name}/dist`)]
  for (const path of outputs) rmSync(join(folder, path), { recursive: true, force: true })
  await Promise.all([
    build({ ...common, entryPoints: entries.map(sourceOf), splitting: true, chunkNames: 'sluice-[hash]' }),
    // Alone in its file: a thread that starts reads no other, and another program may copy it.
    build({ ...common, entryPoints: [sourceOf('hand-off/delivery-worker')], outExtension: { '.js': '.mjs' } }),
    // For runtimes that are no server. Where it needs anything of Node, esbuild refuses it.
    build({ ...common, entryPoints: [sourceOf('elsewhere')], platform: 'browser', target: 'es2022' }),
    build({ ...common, entryPoints: ['src/moved/*.ts'], outdir: 'dist/moved' }),
    ...packages.map(buildPackage),
    buildPage(),
  ])
  if (!hasTypeScript) return { status: 0, said: '' }
  const library = await compile('tsconfig.build.json')
  if (library.status !== 0) return library
  const outcomes = await Promise.all(['receiver', 'opentelemetry'].map(typesOf))
  return outcomes.find(({ status }) => status !== 0) ?? { status: 0, said: '' }
})

/** @param {string} name */
function sourceOf(name) {
  return `src/${name}.ts`
}

/** A package beside the library, with what it needs of the library's source. @param {string} name */
function buildPackage(name) {
  const its = { ...common, splitting: true, outdir: `packages/${name}/dist` }
  if (name !== 'receiver')
    return build({ ...its, entryPoints: [`packages/${name}/src/${name === 'tools' ? 'cli' : 'index'}.ts`] })
  // The receiver's own modules stay one file each: its threads and its tests load single ones.
  const src = join(folder, 'packages/receiver/src')
  const modules = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
  const isOwn = (/** @type {string} */ path) => !relative(src, path).startsWith('..')
  return build({
    ...its,
    entryPoints: modules.map((path) => join('packages/receiver/src', path)),
    chunkNames: 'library/[hash]',
    plugins: [
      {
        name: 'own modules stay',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir }) =>
            kind !== 'entry-point' && isOwn(join(resolveDir, path)) ? { path, external: true } : undefined,
          ),
      },
    ],
  })
}

/** Types of a package. The types of the library's source, which come with them, are not in it. @param {string} name */
async function typesOf(name) {
  const types = `node_modules/.cache/types/${name}`
  const compiled = await compile(`packages/${name}/tsconfig.build.json`, '--outDir', types)
  const own = join(folder, types, 'packages', name, 'src')
  if (compiled.status === 0) cpSync(own, join(folder, 'packages', name, 'dist'), { recursive: true })
  return compiled
}

/** @param {string} project @param {readonly string[]} more */
function compile(project, ...more) {
  const tsc = 'node_modules/typescript/bin/tsc'
  return run({ command: process.execPath, args: [tsc, '-p', project, ...more], folder })
}
