import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { divide, earlyFile, earlyName, engineFile, engineName, readers, withoutParts, wrapped } from './engine-file.js'
import { neededTypes } from './types.js'

// Bundles the modules in build into dist, the folder that is published: one file for each entry of package.json, and files of what entries
// share, so that a thread has it once. A worker reads all files when it starts: a dozen takes half as long as two hundred.
const root = fileURLToPath(new URL('../', import.meta.url))
const dist = join(root, 'dist')
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** @type {readonly { readonly types: string, readonly default: string }[]} */
const entries = Object.values(exports).filter((entry) => typeof entry !== 'string')
const programs = ['cli.js', 'hand-off/delivery-worker.js']
const undici = 'undici.cjs'
const compiled = join(root, 'build')

/** @type {import('esbuild').BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  write: false,
}
const starts = [...entries.map((entry) => basename(entry.default)), ...programs]
const divided = await divide(compiled, starts)
const { outputFiles: modules } = await build({
  ...common,
  entryPoints: starts.map((path) => join('build', path)),
  entryNames: '[name]',
  chunkNames: 'sluice-[hash]',
  outdir: 'dist',
  splitting: true,
  packages: 'external',
  format: 'esm',
  plugins: [withoutParts(compiled, divided)],
})
const first = earlyFile(compiled, divided)
const { outputFiles: early } = await build({
  ...common,
  stdin: { contents: first.contents, resolveDir: compiled },
  outfile: join('dist', earlyName),
  packages: 'external',
  format: 'esm',
  plugins: [first.plugin],
})
const alone = engineFile(compiled, divided)
const { outputFiles: late } = await build({
  ...common,
  stdin: { contents: alone.contents, resolveDir: compiled },
  outfile: join('dist', engineName),
  packages: 'external',
  format: 'cjs',
  plugins: [
    alone.plugin,
    {
      name: 'undici is a file beside the engine',
      setup: ({ onResolve }) => {
        onResolve({ filter: /^\.\/undici\.js$/ }, () => ({ path: `./${undici}`, external: true }))
      },
    },
  ],
})
// undici is CommonJS. In an ES module its `require` of Node's own modules would need `import.meta`, which bundlers of applications take away.
const { outputFiles: parts } = await build({
  ...common,
  entryPoints: ['build/http/undici.js'],
  outfile: join('dist', undici),
  format: 'cjs',
  legalComments: 'none',
  banner: { js: '/*! undici, https://undici.nodejs.org: see THIRD-PARTY-LICENSES */' },
})

// For runtimes that are no server: esbuild refuses whatever is Node's own.
const { outputFiles: elsewhere } = await build({
  ...common,
  entryPoints: ['build/elsewhere.js'],
  outdir: 'dist',
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
})

// For the demo, which waits for it: no types, and nothing shortened.
const isQuick = process.argv.includes('--quick')
/** @type {Set<string>} */
const written = new Set()
for (const [path, text] of neededTypes(isQuick ? [] : entries.map((entry) => join(root, entry.types)))) {
  writeFileSync(path, text)
  written.add(relative(dist, path))
}
const bundled = [modules, early, late, parts, elsewhere]
  .flatMap((files) => files ?? [])
  .map(({ path, text }) => ({
    // A copy in a folder without this package's package.json is an ES module, too.
    path: path.replace(/delivery-worker\.js$/, 'delivery-worker.mjs'),
    text: withFewImports(text),
  }))
for (const { path, text } of isQuick ? bundled : await (await import('./shorten.js')).shortened(bundled)) {
  writeFileSync(path, path.endsWith(engineName) ? wrapped(text) : text)
  written.add(relative(dist, path))
}
for (const [name, text] of Object.entries(readers)) {
  writeFileSync(join(dist, name), text)
  written.add(name)
}
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (/\.[cm]?[jt]s$/.test(name) && !written.has(name)) rmSync(join(dist, name))
}

/**
 * One import for each file: esbuild leaves those of each module, and imports files of which nothing is needed, for their effects. They have none,
 * as package.json says, and bundlers of applications warn of such an import.
 * @param {string} text
 */
function withFewImports(text) {
  /** @type {Map<string, string[]>} */
  const lists = new Map()
  const rest = text.replaceAll(/^import (?:\{([^}]*)\} from )?"(.*)";\n/gm, (_, list, from) => {
    if (list !== undefined) lists.set(from, [...(lists.get(from) ?? []), list.trim().replace(/,$/, '')])
    return ''
  })
  return [...lists].map(([from, names]) => `import { ${names.join(', ')} } from "${from}";\n`).join('') + rest
}
