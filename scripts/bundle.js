import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { minify } from 'terser'

// Bundles the modules in build into dist, the folder that is published: one file for each entry of package.json, and files of what entries
// share, so that a thread has it once. A worker reads all files when it starts: a dozen takes half as long as two hundred.
const root = fileURLToPath(new URL('../', import.meta.url))
const dist = join(root, 'dist')
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** @type {readonly { readonly types: string, readonly default: string }[]} */
const entries = Object.values(exports).filter((entry) => typeof entry !== 'string')
const programs = ['cli.js', 'hand-off/delivery-worker.js']
const undici = 'undici.cjs'
const exported = /export\s*(?:type\s*)?(?:\{[^}]*\}|\*)\s*from\s*['"](\.[^'"]+)['"]/g

/** @type {import('esbuild').BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  write: false,
}
const { outputFiles: modules } = await build({
  ...common,
  entryPoints: [...entries.map((entry) => basename(entry.default)), ...programs].map((path) => join('build', path)),
  entryNames: '[name]',
  // src/hand-off/worker-link.ts knows its own file by this name.
  chunkNames: 'sluice-[hash]',
  outdir: 'dist',
  splitting: true,
  packages: 'external',
  format: 'esm',
  plugins: [
    {
      name: 'undici is a file beside the others',
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
const types = isQuick ? [] : entries.map((entry) => entry.types)
const written = new Set(typesOf(types))
const named = new Set(typesOf(types, exported))
for (const path of written) {
  if (named.has(path)) continue
  const file = join(dist, path)
  // No editor shows a comment on what no entry exports.
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/^ *\/\*\*.*?\*\/\n/gms, ''))
}
for (const { path: built, text } of [...(modules ?? []), ...(parts ?? []), ...(elsewhere ?? [])]) {
  // A copy in a folder without this package's package.json is an ES module, too.
  const path = built.replace(/delivery-worker\.js$/, 'delivery-worker.mjs')
  const needed = withoutBareImports(text)
  writeFileSync(path, isQuick ? needed : await shortened(needed, path.endsWith('.cjs')))
  written.add(relative(dist, path))
}
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (/\.[cm]?[jt]s$/.test(name) && !written.has(name)) rmSync(join(dist, name))
}

/**
 * Without spaces, and with short names of variables. Functions and classes keep their names: stack traces are read. Lines are short: Node
 * prints the line of an error that nobody catches.
 * @param {string} text
 * @param {boolean} isCommon
 */
async function shortened(text, isCommon) {
  const names = { keep_fnames: true, keep_classnames: true }
  const reserved = [...text.matchAll(/([\w$]+) = (?:class\b|(?:async )?(?:\([^()]*\)|[\w$]+) => )/g)].map(
    ([, name = '']) => name,
  )
  const { code = '' } = await minify(text, {
    ...names,
    module: !isCommon,
    ecma: 2020,
    compress: false,
    mangle: { ...names, reserved },
    format: { comments: /^!|webpackMode/, max_line_len: 200 },
  })
  return code
}

/**
 * esbuild also imports files of which an entry needs nothing, for their effects. They have none, as package.json says, and bundlers of
 * applications warn of such an import.
 * @param {string} text
 */
function withoutBareImports(text) {
  return text.replaceAll(/^import "\.\/sluice-\w+\.js";$/gm, '')
}

/**
 * The files of types that those of the entries need, or those that they export from.
 * @param {readonly string[]} starts
 * @param {RegExp} mention
 */
function typesOf(starts, mention = /(?:from|import\()\s*['"](\.[^'"]+)['"]/g) {
  const files = new Set(starts.map((path) => join(root, path)))
  for (const file of files) {
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(mention)) {
      const path = join(dirname(file), name.replace(/\.js$/, '.d.ts'))
      if (existsSync(path)) files.add(path)
    }
  }
  return [...files].map((file) => relative(dist, file))
}
