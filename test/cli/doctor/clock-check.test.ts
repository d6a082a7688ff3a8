import { describe, expect, it } from 'vitest'
import { judge } from '../../../src/cli/doctor/clock-check.js'

describe('the clock of this machine', () => {
  const at = (theirs: number) => judge(theirs, { startedAt: 100_000, endedAt: 101_000 })
  it('agrees with the service within the time of the answer and a rounded second', () => {
    for (const theirs of [99_000, 100_000, 101_000])
      expect(at(theirs)).toMatchObject({ state: 'good', text: 'agrees with that of the service' })
    expect(at(Number.NaN).state).toBe('skipped')
  })
  it('is a problem from half a minute on, in either direction', () => {
    expect(at(40_000)).toMatchObject({ state: 'bad', text: '59 s ahead of that of the service' })
    expect(at(161_000)).toMatchObject({ state: 'bad', text: '60 s behind that of the service' })
    expect(at(111_000)).toMatchObject({ state: 'good', text: '10 s behind that of the service' })
  })
})
