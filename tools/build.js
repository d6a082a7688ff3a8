import { existsSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { buildPage } from './build-page.js'
import { root, run, runStep } from './step.js'

// Builds the library, the packages beside it and the receiver's page: esbuild writes the code, tsc the types. Where TypeScript is not
// installed, as for `npm run demo`, there are no types.
const folder = fileURLToPath(root)
const hasTypeScript = existsSync(new URL('node_modules/typescript/package.json', root))

/** @type {import('esbuild').BuildOptions} */
const common = {
  absWorkingDir: folder,
  bundle: true,
  splitting: true,
  chunkNames: 'sluice-[hash]',
  platform: 'node',
  target: 'node20',
  format: 'esm',
  packages: 'external',
  outdir: 'dist',
  logLevel: 'warning',
}
const names = ['index', 'pino', 'winston', 'register', 'content', 'testing', 'metrics', 'cli']
const entries = [...names, 'reading', 'records', 'opentelemetry', 'fastify', 'express'].map((name) => `src/${name}.ts`)

process.exitCode = await runStep('Building', async () => {
  for (const path of ['dist', 'packages/receiver/dist']) rmSync(new URL(path, root), { recursive: true, force: true })
  await Promise.all([
    build({ ...common, entryPoints: entries }),
    // Alone in its file: a thread that starts reads no other, and another program may copy it.
    build({
      ...common,
      entryPoints: ['src/hand-off/delivery-worker.ts'],
      splitting: false,
      outExtension: { '.js': '.mjs' },
    }),
    // For runtimes that are no server. Where it needs anything of Node, esbuild refuses it.
    build({ ...common, entryPoints: ['src/elsewhere.ts'], splitting: false, platform: 'browser', target: 'es2022' }),
    buildReceiver(),
    buildPage(),
  ])
  if (!hasTypeScript) return { status: 0, said: '' }
  const library = await types('tsconfig.build.json')
  return library.status === 0 ? types('packages/receiver/tsconfig.build.json') : library
})

/** Its modules one for one: its tests and benchmarks import single ones. */
function buildReceiver() {
  const src = 'packages/receiver/src'
  return build({
    absWorkingDir: folder,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    entryPoints: [`${src}/**/*.ts`],
    outbase: src,
    outdir: 'packages/receiver/dist',
  })
}

/** @param {string} project */
function types(project) {
  const tsc = 'node_modules/typescript/bin/tsc'
  return run({ command: process.execPath, args: [tsc, '-p', project], folder })
}
