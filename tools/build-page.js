import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const maxGzippedBytes = 50_000
const root = fileURLToPath(new URL('../', import.meta.url))
const folder = join(root, 'packages/receiver/dist/web')

/**
 * Bundles the receiver's page into packages/receiver/dist/web: index.html, files below /assets/ whose names change with their content, and
 * the style of the form that asks for a key.
 *
 * @throws where it has become too large
 */
export async function buildPage() {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['packages/receiver/web/main.tsx', 'packages/receiver/web/main.css'],
    entryNames: '[name]-[hash]',
    outdir: folder,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    metafile: true,
  })
  await build({
    absWorkingDir: root,
    entryPoints: ['packages/receiver/web/sign-in.css'],
    outdir: folder,
    bundle: true,
    minify: true,
    legalComments: 'none',
  })
  const names = Object.keys(metafile.outputs).map((path) => basename(path))
  const page = readFileSync(join(root, 'packages/receiver/web/index.html'), 'utf8').replaceAll(
    /assets\/main\.(js|css)/g,
    (_whole, extension) => `assets/${names.find((name) => name.endsWith(`.${extension}`))}`,
  )
  writeFileSync(join(folder, 'index.html'), page)

  const files = [page, ...names.map((name) => readFileSync(join(folder, name)))]
  const bytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0)
  if (bytes > maxGzippedBytes) {
    throw new Error(`the receiver's page has ${bytes} bytes, gzipped; it may have ${maxGzippedBytes}`)
  }
}
