import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runProgram } from '../../support/programs.js'

const root = join(import.meta.dirname, '../../..')
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: Record<string, unknown> }
const entries = Object.keys(exports)
  // The others are package.json, and entries that say where they have moved.
  .filter((name) => typeof exports[name] !== 'string')
  .map((name) => name.replace(/^\./, 'sluice'))
const conditions = ['browser', 'edge-light', 'workerd']

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-elsewhere-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Bundles a program as a browser gets it, where no module of Node's can be had, and runs it. */
async function run(program: string, condition: string) {
  const outfile = join(folder, `${condition}.mjs`)
  const { warnings } = await build({
    stdin: { contents: program, resolveDir: root },
    bundle: true,
    // The platform `browser` would add its own condition.
    platform: 'neutral',
    conditions: [condition],
    format: 'esm',
    target: 'es2022',
    outfile,
    logLevel: 'silent',
  })
  expect(warnings).toEqual([])
  return runProgram(outfile, {})
}

describe.each(conditions)('in a bundle with the condition %s', (condition) => {
  it('every name of every entry can be imported', async () => {
    const named = await Promise.all(
      entries.map(async (entry, index) => {
        const names = Object.keys(await import(entry))
        const all = names.map((name) => `${name} as _${index}_${name}`)
        return { text: `import { ${all.join(', ')} } from '${entry}'`, used: names.map((name) => `_${index}_${name}`) }
      }),
    )
    const used = named.flatMap((each) => each.used)
    expect(used.length).toBeGreaterThan(20)
    const program = `${named.map(({ text }) => text).join('\n')}
      console.log([${used.join(', ')}].every((each) => each !== undefined))`
    expect(await run(program, condition)).toMatchObject({ code: 0, stdout: 'true\n', stderr: '' })
  })

  it('nothing is sent, nothing throws, and one line says so', async () => {
    const program = `
      import { createSluice, flush, stats, track, tracked, withContext } from 'sluice'
      import { SluiceTransport } from 'sluice/winston'
      import { sluicePino } from 'sluice/pino'
      import { createContentClient } from 'sluice/content'
      for (let number = 0; number < 3; number++) track(1001)
      const own = createSluice({ url: 'none' })
      own.track(1)
      await own.close()
      sluicePino().write('{}')
      new SluiceTransport().log({ message: 'a line' }, () => {})
      console.log(tracked(1, () => 'run')(), withContext({ a: 1 }, () => 'inner'), (await flush()).accepted, stats().accepted)
      const client = createContentClient()
      try { await client.entry('page', 'one') } catch (error) { console.log(error.code, error.message) }
      await client.close()`
    const { code, stdout, stderr } = await run(program, condition)
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^sluice: Sluice runs on a server[^\n]+nothing is sent[^\n]+\n$/),
    })
    expect(stdout).toMatch(
      /^run inner 0 0\nSLUICE_CONFIG_INVALID Sluice runs on a server, with [^\n]+, not in this runtime[^\n]+\n$/,
    )
  })
})
