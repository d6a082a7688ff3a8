import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// The files that a thread reads before it runs, and all that is built, in bytes as they are on the disk. tools/check.js runs size-limit on it.

/**
 * An entry of dist and the files that it imports.
 * @param {string} entry
 */
function loadedBy(entry) {
  const files = new Set([join('dist', entry)])
  for (const file of existsSync(join('dist', entry)) ? files : []) {
    const text = readFileSync(file, 'utf8')
    for (const [, name = ''] of text.matchAll(/(?:^|;)import(?:[^"();]*from)?"\.\/([^"]+)"/gm))
      files.add(join('dist', name))
  }
  return [...files]
}

const plain = { gzip: false, brotli: false }
const page = join('packages/receiver/dist/web')
const pageFiles = existsSync(page) ? readdirSync(page).filter((name) => !name.endsWith('.map')) : []

export default [
  { name: "import 'sluice'", path: loadedBy('index.js'), limit: '64 kB', ...plain },
  { name: "import 'sluice/winston'", path: loadedBy('winston.js'), limit: '80 kB', ...plain },
  { name: 'the target sluice/pino', path: loadedBy('pino.js'), limit: '66 kB', ...plain },
  { name: 'the delivery worker', path: loadedBy('delivery-worker.mjs'), limit: '68 kB', ...plain },
  {
    name: 'the engine, which all of them read with the first record',
    path: 'dist/engine.cjs',
    limit: '265 kB',
    ...plain,
  },
  { name: 'undici, which the engine reads with the first request', path: 'dist/undici.cjs', limit: '325 kB', ...plain },
  { name: 'dist, types included', path: 'dist/**/*', limit: '900 kB', ...plain },
  { name: "the receiver's page", path: pageFiles.map((name) => join(page, name)), limit: '60 kB', gzip: true },
]
