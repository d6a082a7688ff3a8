import { describe, expect, it } from 'vitest'
import { optionTable } from '../../src/options/defaults.js'
import { checkOption, readVariable } from '../../src/options/option-value.js'

const repeat = optionTable.repeat.kind
const keepForError = optionTable.keepForError.kind

describe('a number of lines per time', () => {
  it.each([
    ['10/60s', { most: 10, windowMs: 60_000 }],
    ['1/100ms', { most: 1, windowMs: 100 }],
    ['1000000/1h', { most: 1_000_000, windowMs: 3_600_000 }],
    ['5/2m', { most: 5, windowMs: 120_000 }],
  ])('is read from %j, as a variable and as an option', (text, value) => {
    expect(readVariable(repeat, text)).toEqual({ ok: true, value })
    expect(checkOption(repeat, text)).toEqual({ ok: true, value })
    expect(checkOption(repeat, value)).toEqual({ ok: true, value })
  })

  it('counts in lines where the option says so', () => {
    expect(readVariable(keepForError, '200/30s')).toEqual({ ok: true, value: { lines: 200, windowMs: 30_000 } })
    expect(checkOption(keepForError, { lines: 100_000, windowMs: 100 }).ok).toBe(true)
    expect(checkOption(keepForError, { lines: 100_001, windowMs: 100 }).ok).toBe(false)
    expect(checkOption(keepForError, { most: 1, windowMs: 100 }).ok).toBe(false)
  })

  it.each([
    '10',
    '10/60',
    '/60s',
    '10/s',
    '0/60s',
    '1000001/60s',
    '10/99ms',
    '10/61m',
    '10/2h',
    '10/0.5s',
    '-1/60s',
    '10/60S',
    '10/60s/1',
  ])('is not read from %j', (text) => {
    expect(readVariable(repeat, text).ok).toBe(false)
    expect(checkOption(repeat, text).ok).toBe(false)
  })

  it.each([
    [{ most: 10 }],
    [{ windowMs: 1000 }],
    [{ most: 0, windowMs: 1000 }],
    [{ most: 1_000_001, windowMs: 1000 }],
    [{ most: 1.5, windowMs: 1000 }],
    [{ most: '10', windowMs: 1000 }],
    [{ most: 10, windowMs: 99 }],
    [{ most: 10, windowMs: 3_600_001 }],
    [{ most: 10, windowMs: 100.5 }],
    [{ most: 10, windowMs: Number.NaN }],
    [{ most: 10, windowMs: 1000, per: 'logger' }],
    [[10, 1000]],
    [10],
    [true],
  ])('is not %j', (value) => {
    expect(checkOption(repeat, value).ok).toBe(false)
  })

  it('is described by the words of the place where it is wrong', () => {
    expect(checkOption(repeat, {})).toMatchObject({ expected: expect.stringMatching(/^an object with most .*10\/60s/) })
    expect(readVariable(repeat, 'x')).toMatchObject({ expected: expect.stringMatching(/^a text such as 10\/60s/) })
  })
})
