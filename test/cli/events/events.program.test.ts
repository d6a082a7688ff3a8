import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startProgram } from '../../support/programs.js'
import { spoolFolder } from '../../support/spool.js'

const run = (...written: string[]) => startProgram('../../dist/cli.js', { arguments: ['events', ...written] }).ended

/** A file of its own with this text. */
function fileWith(text: string): string {
  const file = join(spoolFolder(), 'events.json')
  writeFileSync(file, text)
  return file
}

describe('sluice events check', () => {
  it('is content with a catalogue without faults', async () => {
    const file = resolve(import.meta.dirname, '../../fixtures/events.json')
    expect(await run('check', file)).toMatchObject({ code: 0, stdout: '3 events, no faults\n', stderr: '' })
    const { code, stdout } = await run('check', file, '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ ok: true, file, events: 3, faults: [] })
  })

  it('prints every fault with its line', async () => {
    const file = fileWith(`{
  "placed": { "number": 1001, "description": "an order" },
  "paid": {
    "number": 1001
  },
  "placed": { "number": 1001, "number": 1003 },
  "sent": { "number": -1, "since": "2026" },
  "lost": "7",
  "returned": 1001
}`)
    const faults = [
      [6, 'event placed: the name is in line 2 already'],
      [6, 'event placed, number: the field is in line 6 already'],
      [7, 'event sent, number: expected a whole number from 0, got -1'],
      [7, 'event sent, since: expected no fields but number and description'],
      [8, 'event lost: expected a whole number from 0, got "7"'],
      [9, 'event returned: the number 1001 is that of paid already'],
    ] as const
    const { code, stdout, stderr } = await run('check', file)
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout.trimEnd().split('\n')).toEqual([
      ...faults.map(([line, message]) => `${file}:${line}: ${message}`),
      `5 events, ${faults.length} faults`,
    ])
    const printed = JSON.parse((await run('check', file, '--json')).stdout)
    expect(printed).toEqual({
      ok: false,
      file,
      events: 5,
      faults: faults.map(([line, message]) => ({ line, message })),
    })
  })

  it.each([
    ['[{ "name": "a", "number": 1 }]', ':1: events: expected an object with the events by name, got an array'],
    ['{\n  "a": 1,\n}', ':3: expected JSON: '],
    ['{', ': expected JSON: '],
  ])('finds %j no catalogue', async (text, words) => {
    const file = fileWith(text)
    const { code, stdout } = await run('check', file)
    expect(code).toBe(1)
    expect(stdout).toContain(words)
    expect(stdout).toMatch(/\n0 events, 1 fault\n$/)
  })

  it.each([
    [[], 'expected check, got none'],
    [['chek'], 'unknown action chek; did you mean check?'],
    [['check', 'a', 'b'], 'FILE: expected one file, got 2: a, b'],
    [['check', 'not-there.json'], 'FILE: cannot read not-there.json: ENOENT'],
    [['check'], 'FILE: cannot read events.json: ENOENT'],
    [['check', '/'], 'FILE: cannot read /: EISDIR'],
  ])('called with %j ends with 2 and says: %s', async (written, words) => {
    const { code, stdout, stderr } = await run(...written)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(words)
  })
})
