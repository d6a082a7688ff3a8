import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import webpack, { type Configuration } from 'webpack'
import { rowsOf } from '../../support/full.js'
import { runProgram } from '../../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

const entry = resolve(import.meta.dirname, '../../fixtures/bundled.js')
/** No node_modules is near: the bundle must be complete. */
let folder: string
let receiver: TestReceiver
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-bundle-'))
  receiver = await startTestReceiver()
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await receiver.close()
})

const requireInModules = {
  js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
}

async function withEsbuild(file: string, options: Parameters<typeof build>[0]): Promise<void> {
  const { warnings } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    target: 'node20',
    outfile: file,
    logLevel: 'silent',
    ...options,
  })
  expect(warnings).toEqual([])
}

async function withWebpack(file: string, options: Configuration): Promise<void> {
  const output = { path: folder, filename: file.slice(folder.length + 1), ...options.output }
  const stats = await new Promise<webpack.Stats | undefined>((done, fail) =>
    webpack({ entry, target: 'node20', ...options, output }, (error, result) => (error ? fail(error) : done(result))),
  )
  expect(stats?.compilation.errors).toEqual([])
  expect(stats?.compilation.warnings).toEqual([])
}

const bundlers: Record<string, () => Promise<string>> = {
  'esbuild, ES module': async () => {
    const file = join(folder, 'esbuild.mjs')
    await withEsbuild(file, { format: 'esm', banner: requireInModules })
    return file
  },
  'esbuild, CommonJS, minified with names kept': async () => {
    const file = join(folder, 'esbuild.cjs')
    await withEsbuild(file, { format: 'cjs', minify: true, keepNames: true })
    return file
  },
  'esbuild, for an old target': async () => {
    const file = join(folder, 'esbuild-old.cjs')
    await withEsbuild(file, { format: 'cjs', target: 'es2017', supported: { bigint: true } })
    return file
  },
  'webpack, for production': async () => {
    const file = join(folder, 'webpack.cjs')
    await withWebpack(file, { mode: 'production' })
    return file
  },
  'webpack, ES module': async () => {
    const file = join(folder, 'webpack.mjs')
    await withWebpack(file, {
      mode: 'production',
      experiments: { outputModule: true },
      output: { module: true, chunkFormat: 'module' },
    })
    return file
  },
  'webpack, for development': async () => {
    const file = join(folder, 'webpack-development.cjs')
    await withWebpack(file, { mode: 'development', devtool: false })
    return file
  },
}

const some = ['esbuild, CommonJS, minified with names kept']

describe.each(rowsOf(Object.entries(bundlers), ([name]) => some.includes(name)))(
  'an application bundled by %s',
  (name, bundle) => {
    let file: string
    beforeAll(async () => {
      file = await bundle()
    }, 300_000)

    const ends = [
      { end: 'natural', code: 0 },
      { end: 'exit 3', code: 3 },
    ]

    it.each(rowsOf(ends, ({ code }) => code === 3))(
      'delivers by sluicePino(), winston and track at its end: $end',
      async ({ end, code }) => {
        const before = await counts()
        const ended = await runProgram(file, { ...receiver.variables, END: end })
        expect(ended).toMatchObject({ code, stdout: '' })
        // webpack bundles the worker's file, too.
        const inline = /^sluice: the delivery worker cannot be started \(its file is missing[^\n]+\n$/
        expect(ended.stderr).toMatch(name.startsWith('webpack') ? /^$/ : inline)
        const after = await counts()
        expect({ pino: after.pino - before.pino, winston: after.winston - before.winston }).toEqual({
          pino: 100,
          winston: 100,
        })
        expect(after.values - before.values).toBe(100)
      },
    )
  },
)

async function counts() {
  const logs = await receiver.logs()
  return {
    pino: logs.filter(({ message }) => message.startsWith('by pino')).length,
    winston: logs.filter(({ message }) => message.startsWith('by winston')).length,
    values: (await receiver.values()).length,
  }
}
