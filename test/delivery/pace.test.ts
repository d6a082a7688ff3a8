import { describe, expect, it } from 'vitest'
import { type Look, Pace } from '../../src/delivery/pace.js'

/** What is said at the last of these looks, in a drain of ten seconds. */
function lastOf(looks: readonly Pick<Look, 'now' | 'settled' | 'left'>[], { isDoubling = false } = {}): boolean {
  const pace = new Pace()
  return looks.map((look) => pace.isTooSlow({ since: 0, until: 10_000, isDoubling, ...look })).at(-1)!
}

describe('the pace of a lane in the last drain', () => {
  it('is too slow when what is left takes longer than the time that is left', () => {
    const at = (left: number) => [
      { now: 0, settled: 50, left: 2000 },
      { now: 2000, settled: 250, left },
    ]
    expect([lastOf(at(800)), lastOf(at(801))]).toEqual([false, true])
  })

  it('is not known before something is measured, and from one moment to the next', () => {
    expect(lastOf([{ now: 0, settled: 0, left: 1e6 }])).toBe(false)
    expect(
      lastOf([
        { now: 0, settled: 0, left: 1e6 },
        { now: 500, settled: 1, left: 1e6 },
      ]),
    ).toBe(false)
  })

  it('is not known while the window doubles, and is measured from the end of that on', () => {
    const pace = new Pace()
    const look = { since: 0, until: 10_000 }
    expect(pace.isTooSlow({ ...look, now: 0, settled: 0, left: 3000, isDoubling: true })).toBe(false)
    expect(pace.isTooSlow({ ...look, now: 5000, settled: 100, left: 2900, isDoubling: true })).toBe(false)
    expect(pace.isTooSlow({ ...look, now: 6000, settled: 1100, left: 3900, isDoubling: false })).toBe(false)
    expect(pace.isTooSlow({ ...look, now: 6000, settled: 1100, left: 4100, isDoubling: false })).toBe(true)
  })

  it('is too slow where nothing is answered in three quarters of the time, and not before', () => {
    for (const isDoubling of [false, true]) {
      const silent = (now: number) => [0, now - 700, now].map((each) => ({ now: each, settled: 7, left: 5 }))
      expect([lastOf(silent(7400), { isDoubling }), lastOf(silent(9000), { isDoubling })]).toEqual([false, true])
    }
  })

  it('is fast enough where nothing is left', () => {
    expect(lastOf([0, 9000, 9900].map((now) => ({ now, settled: 0, left: 0 })))).toBe(false)
  })
})
