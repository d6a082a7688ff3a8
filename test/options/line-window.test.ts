import { describe, expect, it } from 'vitest'
import { table } from '../../src/options/table.js'

const keepForError = table.keepForError.kind

describe('a number of lines per time', () => {
  it.each([
    ['10/60s', { lines: 10, windowMs: 60_000 }],
    ['1/100ms', { lines: 1, windowMs: 100 }],
    ['100000/1h', { lines: 100_000, windowMs: 3_600_000 }],
    ['5/2m', { lines: 5, windowMs: 120_000 }],
  ])('is read from %j, as a variable and as an option', (text, value) => {
    expect(keepForError.read(text)).toEqual(value)
    expect(keepForError.check(text)).toEqual(value)
    expect(keepForError.check(value)).toEqual(value)
  })

  it.each([
    '10',
    '10/60',
    '/60s',
    '10/s',
    '0/60s',
    '100001/60s',
    '10/99ms',
    '10/61m',
    '10/2h',
    '10/0.5s',
    '-1/60s',
    '10/60S',
    '10/60s/1',
  ])('is not read from %j', (text) => {
    expect(keepForError.read(text)).toBeUndefined()
    expect(keepForError.check(text)).toBeUndefined()
  })

  it.each([
    [{ lines: 10 }],
    [{ windowMs: 1000 }],
    [{ lines: 0, windowMs: 1000 }],
    [{ lines: 100_001, windowMs: 1000 }],
    [{ most: 10, windowMs: 1000 }],
    [{ lines: 1.5, windowMs: 1000 }],
    [{ lines: '10', windowMs: 1000 }],
    [{ lines: 10, windowMs: 99 }],
    [{ lines: 10, windowMs: 3_600_001 }],
    [{ lines: 10, windowMs: 100.5 }],
    [{ lines: 10, windowMs: Number.NaN }],
    [{ lines: 10, windowMs: 1000, per: 'logger' }],
    [[10, 1000]],
    [10],
    [true],
  ])('is not %j', (value) => {
    expect(keepForError.check(value)).toBeUndefined()
  })

  it('is described by the words of the place where it is wrong', () => {
    expect(keepForError.expected).toMatch(/^an object with lines .*200\/30s/)
    expect(keepForError.expectedText).toMatch(/^a text such as 200\/30s/)
  })
})
