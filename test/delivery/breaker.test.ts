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

  it('keeps the status of its pause when a later probe fails in another way', () => {
    const { breaker, lane } = setUpBreaker('paused')
    breaker.open(lane, { atOnce: false, status: 404 })
    breaker.open(lane, { atOnce: false })
    expect(breaker.status).toBe(404)
    breaker.open(lane, { atOnce: false, status: 403 })
    expect(breaker.status).toBe(403)
  })

  it.each([
    { cause: 'outage', ready: 0, tried: 2, sent: 0 },
    { cause: 'outage', ready: 1, tried: 0, sent: 1 },
    { cause: 'paused', ready: 0, tried: 1, sent: 0 },
    { cause: 'paused', ready: 0, tried: 2, sent: 1 },
  ] as const)('for $cause sends another record at once, or none: $ready ready, $tried tried', (row) => {
    const { breaker, lane } = setUpBreaker(row.cause)
    Object.assign(lane.ready, { length: row.ready })
    Object.assign(lane.probes.tried, { length: row.tried })
    breaker.open(lane, { atOnce: true })
    expect(lane.sent).toBe(row.sent)
  })

  it('asks no other lane while a probe is in flight, however long it takes', async () => {
    const { clock, lane, fail } = setUpBreaker()
    const other = new FakeLane()
    fail()
    await clock.advance(100)
    fail(other)
    await clock.advance(60_000)
    expect([lane.sent, other.sent]).toEqual([1, 0])
  })
})

describe('a wait that the service asked for', () => {
  it('counts from now, and the longest of several counts', async () => {
    const { clock, lane, fail } = setUpBreaker()
    await clock.advance(1000)
    fail(lane, { notBefore: 6000, excessive: false })
    fail(lane, { notBefore: 3000, excessive: false })
    await clock.advance(4999)
    expect(lane.sent).toBe(0)
    await clock.advance(1)
    expect(lane.sent).toBe(1)
  })

  it('is over at its moment: a drain then probes, and spends no last chance', async () => {
    const { clock, breaker, lane, fail } = setUpBreaker()
    lane.hasRecords = false
    fail(lane, { notBefore: 300_000, excessive: true })
    await clock.advance(300_000)
    lane.hasRecords = true
    lane.hasLastChance = true
    breaker.probeNow(lane)
    expect(lane.sent).toBe(1)
    expect(lane.hasLastChance).toBe(true)
  })

  it.each([
    { excessive: true, hasLastChance: true, sent: 1 },
    { excessive: true, hasLastChance: false, sent: 0 },
    { excessive: false, hasLastChance: true, sent: 0 },
  ])('is passed over once where it is too long and nothing comes after: %o', ({ excessive, hasLastChance, sent }) => {
    const { lane, fail } = setUpBreaker()
    lane.hasLastChance = hasLastChance
    fail(lane, { notBefore: 300_000, excessive })
    expect(lane.sent).toBe(sent)
    expect(lane.hasLastChance).toBe(hasLastChance && !excessive)
  })
})

describe('a breaker from which one lane leaves without proof for the others', () => {
  it('lets them wait as before', async () => {
    const { clock, breaker, lane, fail } = setUpBreaker()
    const other = new FakeLane()
    fail()
    fail(other)
    await clock.advance(100)
    breaker.close(lane, { others: false })
    breaker.recordsCame(other)
    await clock.advance(199)
    expect(other.sent).toBe(0)
    await clock.advance(1)
    expect(other.sent).toBe(1)
  })

  it('does not let them probe before the moment that the service asked for', async () => {
    const { clock, breaker, lane, fail } = setUpBreaker()
    const other = new FakeLane()
    breaker.open(lane, { atOnce: true })
    expect(lane.probing).toBe(true)
    fail(other, { notBefore: 5000, excessive: false })
    breaker.close(lane, { others: false })
    await clock.advance(4999)
    expect(other.sent).toBe(0)
    await clock.advance(1)
    expect(other.sent).toBe(1)
  })

  it('sets no second timer while one runs, and none while another lane probes', async () => {
    const { clock, breaker, lane, fail } = setUpBreaker()
    const [other, third] = [new FakeLane(), new FakeLane()]
    for (const each of [lane, other, third]) fail(each)
    breaker.close(third, { others: false })
    expect(clock.timers).toBe(1)
    await clock.advance(100)
    expect(lane.probing).toBe(true)
    breaker.close(other, { others: false })
    expect(clock.timers).toBe(0)
  })

  it('begins with short waits again when it was the last', async () => {
    const { clock, breaker, lane, fail } = setUpBreaker()
    fail(lane, { notBefore: 5000, excessive: false })
    await clock.advance(5000)
    breaker.close(lane, { others: false })
    expect(clock.timers).toBe(0)
    lane.probing = false
    fail()
    expect(breaker.wait).toBe(noWait)
    await clock.advance(100)
    expect(lane.sent).toBe(2)
  })
})

describe('a breaker whose probe is due', () => {
  it('waits for a record when the lane of a drain has none', () => {
    const { breaker, lane, fail } = setUpBreaker()
    lane.hasRecords = false
    fail()
    breaker.probeNow(lane)
    lane.hasRecords = true
    breaker.recordsCame(lane)
    expect(lane.sent).toBe(1)
  })

  it('sends one probe for a drain, and no second one when more records come', () => {
    const { breaker, lane, fail } = setUpBreaker()
    fail()
    breaker.probeNow(lane)
    lane.probing = false
    breaker.recordsCame(lane)
    expect(lane.sent).toBe(1)
  })

  it('sends none beside the probe of another lane', async () => {
    const { clock, breaker, lane, fail } = setUpBreaker()
    const other = new FakeLane()
    for (const each of [lane, other]) {
      each.hasRecords = false
      fail(each)
    }
    await clock.advance(1000)
    other.hasRecords = true
    breaker.probeNow(other)
    expect(breaker.state).toBe('half-open')
    lane.hasRecords = true
    breaker.recordsCame(lane)
    expect([lane.sent, other.sent]).toEqual([0, 1])
  })

  it('does not become due for a drain of a lane without records while another lane probes', async () => {
    const { clock, breaker, lane, fail } = setUpBreaker()
    const other = new FakeLane()
    other.hasRecords = false
    fail()
    fail(other)
    await clock.advance(100)
    breaker.probeNow(other)
    breaker.close(lane, { others: false })
    other.hasRecords = true
    breaker.recordsCame(other)
    expect(other.sent).toBe(0)
  })

  it('sends nothing any more when it is stopped', async () => {
    const { clock, breaker, lane, fail } = setUpBreaker()
    lane.hasRecords = false
    fail()
    await clock.advance(1000)
    breaker.stop()
    lane.hasRecords = true
    breaker.recordsCame(lane)
    expect(lane.sent).toBe(0)
  })
})
