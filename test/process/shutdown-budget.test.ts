import { beforeEach, describe, expect, it } from 'vitest'
import { ShutdownBudget } from '../../src/process/shutdown-budget.js'

let now = 0
let end: { beganAt: number | undefined; begin(at: number): void }
let budget: ShutdownBudget
beforeEach(() => {
  now = 100_000
  end = {
    beganAt: undefined,
    begin(at) {
      this.beganAt ??= at
    },
  }
  budget = new ShutdownBudget({ now: () => now, end })
})

function engineWith(accepted: number, shutdownTimeoutMs = 4000) {
  const counts = { accepted }
  return { counts, options: { shutdownTimeoutMs }, stats: () => ({ ...counts }) }
}

describe('before the end of the process', () => {
  it('an engine has its whole time, whenever it is asked', () => {
    const engine = engineWith(1)
    expect(budget.remaining(engine)).toBe(4000)
    now += 60_000
    expect(budget.grant(engine)).toBe(4000)
  })

  it('the time of a grant runs on, however often it is asked for', () => {
    const engine = engineWith(1)
    budget.grant(engine)
    now += 1500
    expect(budget.remaining(engine)).toBe(2500)
    expect(budget.grant(engine)).toBe(2500)
    now += 9000
    expect(budget.grant(engine)).toBe(0)
  })

  it('a grant whose timer ended a part of a millisecond early is over', () => {
    const engine = engineWith(1)
    budget.grant(engine)
    now += 3999.3
    expect(budget.remaining(engine)).toBe(0)
  })

  it('records that come after a grant have a whole time for themselves', () => {
    const engine = engineWith(1)
    budget.grant(engine)
    now += 4000
    engine.counts.accepted++
    expect(budget.remaining(engine)).toBe(4000)
  })

  it('nothing is left once the drain of a grant is over, but for records that came meanwhile', () => {
    const engine = engineWith(1)
    budget.grant(engine)
    budget.spend(engine)
    expect(budget.remaining(engine)).toBe(0)
    engine.counts.accepted++
    expect(budget.remaining(engine)).toBe(4000)
  })

  it('a grant with a time of its own takes the place of the one before', () => {
    const engine = engineWith(1)
    budget.grant(engine)
    now += 4000
    expect(budget.grant(engine, 700)).toBe(700)
    expect(budget.remaining(engine)).toBe(700)
  })

  it('an end right after a flush in vain has a quarter, one that comes later the whole', () => {
    budget.flushedInVain()
    now += 500
    expect(budget.allotment(4000)).toBe(1000)
    now += 1000
    expect(budget.allotment(4000)).toBe(4000)
  })
})

describe('at the end of the process', () => {
  it('the time of all engines runs at once, and one that comes late has a quarter of its own', () => {
    budget.begin(4000)
    now += 1000
    expect(budget.allotment(4000)).toBe(3000)
    now += 60_000
    expect(budget.allotment(4000)).toBe(1000)
  })

  it('only the first beginning counts', () => {
    budget.begin(4000)
    now += 1000
    budget.begin(4000)
    expect(budget.allotment(4000)).toBe(3000)
  })

  it('an engine that delivers from the beginning gets no quarter on top', () => {
    const engine = engineWith(1)
    budget.begin(4000)
    budget.grant(engine)
    now += 3900
    expect(budget.remaining(engine)).toBe(100)
    now += 200
    expect(budget.remaining(engine)).toBe(0)
  })

  it('is over a quarter after its time, or 50 ms where that is longer, but leaves what comes late a quarter', () => {
    expect([budget.untilLatest(4000), budget.untilLatest(100), budget.untilLatest(0)]).toEqual([5000, 150, 50])
    budget.begin(4000)
    now += 3000
    expect(budget.untilLatest(4000)).toBe(2000)
    now += 60_000
    expect(budget.untilLatest(4000)).toBe(1000)
  })

  it('a beginning right after a flush in vain leaves a quarter to every thread', () => {
    budget.flushedInVain()
    budget.begin(4000)
    const thread = new ShutdownBudget({ now: () => now, end })
    expect(thread.allotment(4000)).toBe(1000)
    now += 60_000
    expect(thread.allotment(4000)).toBe(1000)
  })
})
