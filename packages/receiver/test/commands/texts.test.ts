import { describe, expect, it } from 'vitest'
import { timeText, visibleLine } from '../../src/commands/printed-record.js'
import { sinceTime } from '../../src/commands/since.js'

describe('a time of --since', () => {
  it.each([
    ['30s', '30s'],
    ['999999d', '999999d'],
    ['2026-01-30', '2026-01-30T00:00:00.000Z'],
    ['2026-01-30T01:00:00+01:00', '2026-01-30T00:00:00.000Z'],
  ])('%s is %s for the receiver', (written, time) => expect(sinceTime(written)).toBe(time))

  it.each(['5', 'm', '5 m', '-5m', '1.5h', '1000000s', '31.01.2026', '2026-99-01', '2026'])('%s is none', (written) =>
    expect(sinceTime(written)).toBeUndefined(),
  )
})

describe('a printed record', () => {
  it('shows a time, and a number that is no time as it is', () => {
    expect(timeText(1_700_000_000_000)).toBe('2023-11-14T22:13:20.000Z')
    expect(timeText(1_700_000_000)).toBe('2023-11-14T22:13:20.000Z')
    expect([-1, 7, 1e300].map(timeText)).toEqual(['-1', '7', '1e+300'])
  })

  it('has one line of at most 2,000 characters', () => {
    expect(visibleLine('x'.repeat(10_000_000))).toBe(`${'x'.repeat(2000)}…`)
    expect(visibleLine('one\r\ntwo\nthree')).toBe('one …')
    expect(visibleLine('one\r\n\n')).toBe('one')
    expect(visibleLine('')).toBe('')
  })
})
