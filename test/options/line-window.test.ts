import { describe, expect, it } from 'vitest'
import { table } from '../../src/options/table.js'

const repeat = table.repeat.kind
const keepForError = table.keepForError.kind

describe('a number of lines per time', () => {
  it.each([
    ['10/60s', { most: 10, windowMs: 60_000 }],
    ['1/100ms', { most: 1, windowMs: 100 }],
    ['1000000/1h', { most: 1_000_000, windowMs: 3_600_000 }],
    ['5/2m', { most: 5, windowMs: 120_000 }],
  ])('is read from %j, as a variable and as an option', (text, value) => {
    expect(repeat.read(text)).toEqual(value)
    expect(repeat.check(text)).toEqual(value)
    expect(repeat.check(value)).toEqual(value)
  })

  it('counts in lines where the option says so', () => {
    expect(keepForError.read('200/30s')).toEqual({ lines: 200, windowMs: 30_000 })
    expect(keepForError.check({ lines: 100_000, windowMs: 100 })).toBeDefined()
    expect(keepForError.check({ lines: 100_001, windowMs: 100 })).toBeUndefined()
    expect(keepForError.check({ most: 1, windowMs: 100 })).toBeUndefined()
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
    expect(repeat.read(text)).toBeUndefined()
    expect(repeat.check(text)).toBeUndefined()
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
    expect(repeat.check(value)).toBeUndefined()
  })

  it('is described by the words of the place where it is wrong', () => {
    expect(repeat.expected).toMatch(/^an object with most .*10\/60s/)
    expect(repeat.expectedText).toMatch(/^a text such as 10\/60s/)
  })
})
