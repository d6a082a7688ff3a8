import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

// Bundles the modules in build into dist, the folder that is published: one file for each entry of package.json, and files of what entries
// share, so that a thread has it once. A worker reads all files when it starts: a dozen takes half as long as two hundred.
const root = fileURLToPath(new URL('../', import.meta.url))
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const entries = Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [basename(entry.default)]))
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: [...entries, 'cli.js', 'hand-off/delivery-worker.js'].map((path) => join('build', path)),
  entryNames: '[name]',
  // src/hand-off/worker-link.ts knows its own file by this name.
  chunkNames: 'sluice-[hash]',
  outdir: 'dist',
  bundle: true,
  splitting: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Names stay: stack traces are read.
  minifyWhitespace: true,
  minifySyntax: true,
  metafile: true,
})
const written = new Set(Object.keys(metafile.outputs).map((path) => basename(path)))
for (const name of readdirSync(join(root, 'dist'))) {
  if (!name.endsWith('.js')) continue
  const path = join(root, 'dist', name)
  if (written.has(name)) writeFileSync(path, withoutBareImports(readFileSync(path, 'utf8')))
  else rmSync(path)
}

/**
 * esbuild also imports files of which an entry needs nothing, for their effects. They have none, as package.json says, and bundlers of
 * applications warn of such an import.
 * @param {string} text
 */
function withoutBareImports(text) {
  return text.replaceAll(/(?<=^|;)import"\.\/sluice-\w+\.js";/g, '')
}
