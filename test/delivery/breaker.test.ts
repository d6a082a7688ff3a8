import { describe, expect, it } from 'vitest'
import { Breaker, type BreakerLane } from '../../src/delivery/breaker.js'
import { noWait, type Wait } from '../../src/delivery/rules.js'
import { VirtualClock } from '../support/virtual-clock.js'

/** A lane with records to probe with, which notes its probes. */
class FakeLane implements BreakerLane {
  readonly ready = { length: 1 }
  readonly probes = { confirming: false, tried: { length: 0 } }
  probing = false
  hasLastChance = false
  hasRecords = true
  breaker: Breaker | undefined
  sent = 0

  honour({ notBefore, excessive }: Wait): number {
    if (!excessive || !this.hasLastChance) return notBefore
    this.hasLastChance = false
    return Number.NEGATIVE_INFINITY
  }

  probe(): boolean {
    if (this.probing || !this.hasRecords) return false
    this.probing = true
    this.sent++
    return true
  }

  breakerOpened(breaker: Breaker): void {
    this.breaker = breaker
  }

  breakerClosed(): void {
    this.breaker = undefined
  }
}

function setUpBreaker(cause: 'outage' | 'paused' = 'outage') {
  const clock = new VirtualClock()
  const breaker = new Breaker({ cause, clock, waitMs: (attempt) => 100 * 2 ** attempt })
  const lane = new FakeLane()
  /** The probe of a lane has failed. */
  const fail = (each = lane, wait = noWait) => {
    each.probing = false
    breaker.open(each, { wait, atOnce: false })
  }
  return { clock, breaker, lane, fail }
}

describe('a breaker', () => {
  it('is closed, opens for a lane, is half-open while a probe is in flight, and closes again', async () => {
    const { clock, breaker, lane } = setUpBreaker()
    expect(breaker.state).toBe('closed')
    breaker.open(lane, { atOnce: false })
    expect(breaker.state).toBe('open')
    expect(lane.breaker).toBe(breaker)
    await clock.advance(100)
    expect(breaker.state).toBe('half-open')
    breaker.close(lane, { others: true })
    expect(breaker.state).toBe('closed')
    expect(lane.breaker).toBeUndefined()
    expect(clock.timers).toBe(0)
  })

  it('waits longer after each probe that failed', async () => {
    const { clock, lane, fail } = setUpBreaker()
    fail()
    for (const waitMs of [100, 200, 400]) {
      const before = lane.sent
      await clock.advance(waitMs - 1)
      expect(lane.sent).toBe(before)
      await clock.advance(1)
      expect(lane.sent).toBe(before + 1)
      fail()
    }
  })

  it('lets the lanes that wait together probe in turn, one record at a time', async () => {
    const { clock, lane, fail } = setUpBreaker()
    const other = new FakeLane()
    fail(lane)
    fail(other)
    await clock.advance(100)
    expect([lane.sent, other.sent]).toEqual([1, 0])
    await clock.advance(10_000)
    expect([lane.sent, other.sent]).toEqual([1, 0])
    fail(lane)
    await clock.advance(200)
    expect([lane.sent, other.sent]).toEqual([1, 1])
  })

  it('sends no probe before the moment that the service asked for, not even for a drain', async () => {
    const { clock, breaker, lane, fail } = setUpBreaker()
    fail(lane, { notBefore: 5000, excessive: false })
    breaker.probeNow(lane)
    await clock.advance(4999)
    expect(lane.sent).toBe(0)
    await clock.advance(1)
    expect(lane.sent).toBe(1)
  })

  it('sends one probe inside a wait that is too long to honour, for a lane that has its last chance', () => {
    const { breaker, lane, fail } = setUpBreaker()
    fail(lane, { notBefore: 300_000, excessive: true })
    lane.hasLastChance = true
    breaker.probeNow(lane)
    expect(lane.sent).toBe(1)
    lane.probing = false
    breaker.probeNow(lane)
    expect(lane.sent).toBe(1)
  })

  it('sends another record at once where the first one may be at fault, whatever wait the service asked for', () => {
    const { breaker, lane } = setUpBreaker()
    breaker.open(lane, { wait: { notBefore: 60_000, excessive: false }, atOnce: true })
    expect(lane.sent).toBe(1)
  })

  it('probes as soon as a record comes, when a probe was due and there was none', async () => {
    const { clock, breaker, lane, fail } = setUpBreaker()
    lane.hasRecords = false
    fail()
    await clock.advance(1000)
    expect(lane.sent).toBe(0)
    lane.hasRecords = true
    breaker.recordsCame(lane)
    expect(lane.sent).toBe(1)
  })

  it('lets the lanes that still wait probe at once when another one has recovered', async () => {
    const { clock, breaker, lane, fail } = setUpBreaker()
    const other = new FakeLane()
    fail(lane)
    fail(other)
    breaker.close(lane, { others: true })
    await clock.advance(0)
    expect(other.sent).toBe(1)
  })

  it('sends nothing any more when it is stopped', async () => {
    const { clock, breaker, lane, fail } = setUpBreaker()
    fail()
    breaker.stop()
    await clock.advance(10_000)
    expect(lane.sent).toBe(0)
    expect(clock.timers).toBe(0)
  })
})
