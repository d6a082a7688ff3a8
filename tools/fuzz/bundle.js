import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, transform } from 'esbuild'
import { countBranches } from './coverage-plugin.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const babel = createRequire(import.meta.url)('@babel/core')
/** Marks a question of the plugin itself. */
const resolved = {}
/** Counters of one target, at most. */
const maxCounters = 65_536

/**
 * Bundles a target with counters in the sources of the library and the receiver.
 *
 * @param {string} name of a file in targets
 * @returns {Promise<{ path: string, counters: number, words: string[] }>} the bundle, its counters, and the texts of its sources
 */
export async function bundleTarget(name) {
  const path = join(root, 'tools/fuzz/dist', `${name}.js`)
  mkdirSync(dirname(path), { recursive: true })
  let counters = 0
  const words = new Set()
  const counting = countBranches({ next: () => counters++ % maxCounters, words })
  await build({
    absWorkingDir: root,
    entryPoints: [join('tools/fuzz/targets', `${name}.ts`)],
    outfile: path,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    keepNames: true,
    logLevel: 'warning',
    banner: { js: `const __counters = globalThis.__counters ??= new Uint8Array(${maxCounters});` },
    plugins: [
      {
        name: 'counters',
        setup(plan) {
          // The receiver imports the library by its name.
          plan.onResolve({ filter: /^sluice\/\w+$/ }, ({ path }) => ({
            path: join(root, 'src', `${path.slice(7)}.ts`),
          }))
          // Other packages stay outside. The receiver may have a version of its own.
          plan.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, kind, importer, resolveDir }) => {
            if (pluginData === resolved || kind === 'entry-point' || isBuiltin(path)) return undefined
            const found = await plan.resolve(path, { kind, importer, resolveDir, pluginData: resolved })
            return { path: pathToFileURL(found.path).href, external: true }
          })
          plan.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
            const file = relative(root, path)
            if (!/^(packages\/receiver\/)?src\//.test(file)) return undefined
            const { code } = await transform(readFileSync(path, 'utf8'), {
              loader: 'ts',
              target: 'node20',
              sourcefile: file,
            })
            const { code: counted } = babel.transformSync(code, {
              configFile: false,
              babelrc: false,
              compact: false,
              plugins: [counting],
            })
            return { contents: counted.replaceAll('import.meta.url', JSON.stringify(builtUrl(file))), loader: 'js' }
          })
        },
      },
    ],
  })
  return { path, counters: Math.min(counters, maxCounters), words: [...words] }
}

/** The file that `npm run build` makes of a source file: the files around it are found from there. @param {string} file */
function builtUrl(file) {
  const built = file.replace(/^packages\/receiver\/src\//, 'packages/receiver/dist/').replace(/^src\//, 'dist/')
  return pathToFileURL(join(root, built.replace(/\.ts$/, '.js'))).href
}
