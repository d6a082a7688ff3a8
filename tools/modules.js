import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { root } from './step.js'

/**
 * Single modules of the library, for benchmarks and test programs: bundled together with what they import, so that each class exists once.
 *
 * @param {...string} paths from src on, such as `delivery/delivery`
 * @returns {Promise<any>} all that they export
 */
export async function modules(...paths) {
  const contents = paths.map((path) => `export * from './${path}.js'`).join('\n')
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('src', root)) },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    write: false,
  })
  // From there it finds the packages of the repository.
  const folder = new URL('node_modules/.cache/sluice/', root)
  mkdirSync(folder, { recursive: true })
  const file = new URL(`${process.pid}-${process.hrtime.bigint()}.mjs`, folder)
  writeFileSync(file, outputFiles[0]?.text ?? '')
  return import(file.href).finally(() => rmSync(file))
}
