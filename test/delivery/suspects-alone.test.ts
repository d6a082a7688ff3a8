import { describe, expect, it } from 'vitest'
import { type Pending, pendingRecord } from '../../src/delivery/record-queue.js'
import { noWait } from '../../src/delivery/rules.js'
import { type DrainTime, Suspects } from '../../src/delivery/suspects.js'
import { answers } from '../support/scripted-sender.js'
import { VirtualClock } from '../support/virtual-clock.js'

const baseMs = 100
/** The random source is in the middle: a retry comes after half of its longest backoff. */
const random = () => 0.5

/** Suspects without a delivery around them: a test sends them, and says how that ends. */
function setUpSuspects({ capMs = 100 } = {}) {
  const clock = new VirtualClock()
  const lane = { settled: 0, delivered: 0 }
  const drains = new Set<DrainTime>()
  const calls = { due: 0 }
  const due = () => {
    calls.due++
  }
  const suspects = new Suspects({ clock, lane, drains, due, random, retry: { baseMs, capMs } })
  let sequence = 0
  const record = (generation = 0) =>
    pendingRecord({ body: '{}', bytes: 2, severity: 2, idempotencyKey: '' }, { sequence: sequence++, generation })
  const succeed = () => {
    lane.settled++
    lane.delivered++
  }
  /** The record is sent alone, and fails. */
  const fail = (each: Pending) => {
    suspects.failed(each, answers.failed)
    suspects.wait(each)
  }
  /** A suspect that has failed alone so many times. */
  const failed = async (times: number) => {
    const each = record()
    suspects.add(each)
    for (let time = 0; time < times; time++) {
      await clock.advance(capMs)
      suspects.takeAny()
      fail(each)
    }
    return each
  }
  const drain = ({ last = false, startedAt = clock.now(), deadline = 60_000 } = {}) => {
    drains.add({ startedAt, deadline, last })
  }
  return { clock, lane, calls, suspects, record, succeed, fail, failed, drain }
}

describe('suspects that are due again', () => {
  /** Two suspects that failed again and are due; the one that failed first came later. */
  async function twoDue() {
    const { clock, suspects, record, fail } = setUpSuspects()
    const [older, younger] = [record(), record()]
    for (const each of [younger, older]) {
      suspects.add(each)
      await clock.advance(1000)
      expect(suspects.take()).toBe(each)
      fail(each)
      await clock.advance(1000)
    }
    return { suspects, older, younger }
  }

  it('go out in the order in which they came due, so that one that fails often keeps no other back', async () => {
    const { suspects, older, younger } = await twoDue()
    expect([suspects.take(), suspects.take(), suspects.take()]).toEqual([younger, older, undefined])
  })

  it('do not go out, and are not remembered, once they are shed', async () => {
    const { suspects, older, younger } = await twoDue()
    suspects.removeKnown(younger)
    expect(suspects.length).toBe(1)
    expect([suspects.take(), suspects.take()]).toEqual([older, undefined])
  })
})

describe('back-pressure that comes among successes', () => {
  /** Suspects with back-pressure fail when they first go alone. */
  function failAlone(set: ReturnType<typeof setUpSuspects>, { count, askedForLess = true }: FailAlone) {
    for (let index = 0; index < count; index++) {
      const each = set.record()
      set.suspects.add(each, askedForLess ? { askedForLess } : {})
      set.suspects.takeAny()
      set.fail(each)
    }
  }
  interface FailAlone {
    readonly count: number
    readonly askedForLess?: boolean
  }

  it('is meant for single records once most of them fail alone, too', () => {
    const set = setUpSuspects()
    const verdicts = [0, 1, 1, 1].map((count) => {
      failAlone(set, { count })
      return set.suspects.pressureIsTheirOwn
    })
    expect(verdicts).toEqual([false, false, false, true])
  })

  it('is meant for the rate again when a suspect is taken at its first retry', () => {
    const set = setUpSuspects()
    failAlone(set, { count: 3 })
    const innocent = set.record()
    set.suspects.add(innocent, { askedForLess: true })
    set.suspects.acquitted(innocent)
    expect(set.suspects.pressureIsTheirOwn).toBe(false)
  })

  it('is not judged by suspects that failed in another way', () => {
    const set = setUpSuspects()
    failAlone(set, { count: 10, askedForLess: false })
    expect(set.suspects.pressureIsTheirOwn).toBe(false)
  })

  it('is judged by the first retry alone: later ones of the same record, and its success after them, change nothing', () => {
    const set = setUpSuspects()
    failAlone(set, { count: 2 })
    const each = set.suspects.takeAny()!
    set.fail(each)
    set.fail(each)
    expect(set.suspects.pressureIsTheirOwn).toBe(false)
    failAlone(set, { count: 1 })
    set.suspects.acquitted(each)
    expect(set.suspects.pressureIsTheirOwn).toBe(true)
  })
})

describe('the gap between suspects of a lane without success', () => {
  it('comes after the fifth failure in a row, and not before', async () => {
    const { suspects, record, fail, failed } = setUpSuspects()
    const known = await failed(4)
    const fresh = record()
    suspects.add(fresh)
    suspects.releaseNow({ last: false })
    expect([suspects.take(), suspects.take()]).toEqual([fresh, known])
    fail(fresh)
    suspects.releaseNow({ last: false })
    expect(suspects.take()).toBeUndefined()
  })

  it('does not come while the lane has successes in between', () => {
    const { suspects, record, succeed, fail } = setUpSuspects()
    const each = record()
    suspects.add(each)
    for (let time = 0; time < 8; time++) {
      suspects.takeAny()
      succeed()
      fail(each)
    }
    suspects.releaseNow({ last: false })
    expect(suspects.take()).toBe(each)
  })

  it('ends by itself, and says so once', async () => {
    const { clock, calls, suspects, failed } = setUpSuspects({ capMs: 10_000 })
    const each = await failed(6)
    suspects.takeAny()
    suspects.failed(each, answers.failed)
    // Three failures too many: half of 100 × 2³ ms.
    suspects.add(each)
    await clock.advance(60)
    expect(suspects.length).toBe(1)
    expect([suspects.take(), suspects.take()]).toEqual([undefined, undefined])
    expect(clock.timers).toBe(1)
    calls.due = 0
    await clock.advance(339)
    expect(calls.due).toBe(0)
    await clock.advance(1)
    expect(calls.due).toBe(1)
    expect(suspects.take()).toBe(each)
  })

  it('comes again, with a timer of its own, when it is needed again', async () => {
    const { clock, calls, suspects, failed, fail } = setUpSuspects()
    const each = await failed(5)
    for (let round = 0; round < 3; round++) {
      suspects.releaseNow({ last: false })
      expect(suspects.take()).toBeUndefined()
      calls.due = 0
      await clock.advance(100)
      expect(calls.due).toBe(1)
      expect(suspects.take()).toBe(each)
      fail(each)
    }
  })

  it('ends as soon as a record of the lane is taken', async () => {
    const { suspects, failed, succeed } = setUpSuspects()
    const each = await failed(6)
    suspects.releaseNow({ last: false })
    expect(suspects.take()).toBeUndefined()
    succeed()
    expect(suspects.take()).toBe(each)
  })

  it('leaves no timer once it is stopped', async () => {
    const { clock, suspects, failed } = setUpSuspects()
    await failed(6)
    suspects.releaseNow({ last: false })
    suspects.take()
    expect(clock.timers).toBe(1)
    suspects.stop()
    expect(clock.timers).toBe(0)
  })
})

describe('the wait of a suspect', () => {
  it('grows with each failure, and no further than that of the second retry during a drain', async () => {
    for (const [draining, longestMs] of [
      [false, 3200],
      [true, 200],
    ] as const) {
      const { clock, suspects, record, drain } = setUpSuspects({ capMs: 10_000 })
      if (draining) drain()
      const each = record()
      suspects.add(each)
      suspects.takeAny()
      for (let time = 0; time < 6; time++) suspects.failed(each, answers.failed)
      suspects.wait(each)
      await clock.advance(longestMs - 1)
      expect(suspects.waiting.queue.length).toBe(1)
      await clock.advance(21)
      expect(suspects.waiting.queue.length).toBe(0)
    }
  })

  it('lasts until the moment that the service named', async () => {
    const { clock, suspects, record } = setUpSuspects()
    await clock.advance(10_000)
    const each = record()
    suspects.add(each, { wait: { notBefore: 12_000, excessive: false } })
    await clock.advance(1999)
    expect(suspects.take()).toBeUndefined()
    await clock.advance(1)
    expect(suspects.take()).toBe(each)
  })
})

describe('a suspect that failed before others succeeded, during a drain', () => {
  const asked = (excessive: boolean) => ({ notBefore: 5000, excessive })

  it.each([
    ['goes out at once beside the last drain where the wait is too long to honour', asked(true), true, 0],
    ['waits beside the last drain for a wait that is honoured', asked(false), true, 5000],
    ['waits beside other drains, however long it is', asked(true), false, 5000],
    ['goes out at once where the service asked for no wait', noWait, false, 0],
  ])('%s', async (_, wait, last, waitMs) => {
    const { clock, suspects, record, drain } = setUpSuspects()
    drain()
    if (last) drain({ last })
    const each = record()
    suspects.addLate(each, wait)
    if (waitMs > 0) await clock.advance(waitMs - 1)
    if (waitMs > 0) expect(suspects.take()).toBeUndefined()
    await clock.advance(1)
    expect(suspects.take()).toBe(each)
  })
})

describe('a suspect that a drain gives up', () => {
  it('goes on waiting while the drain is open', async () => {
    const { clock, suspects, drain, failed } = setUpSuspects()
    drain()
    const each = await failed(2)
    await clock.advance(100)
    expect(suspects.take()).toBeUndefined()
    expect(suspects.waiting.queue.length).toBe(1)
    expect(suspects.takeAny()).toBe(each)
  })

  it('goes out for a drain that began after its failures', async () => {
    const { clock, suspects, drain, failed } = setUpSuspects()
    drain()
    const each = await failed(2)
    await clock.advance(1)
    drain()
    await clock.advance(100)
    expect(suspects.take()).toBe(each)
  })

  it('is counted among the records that the drain waits for, and no later one is', () => {
    const { suspects, record } = setUpSuspects()
    const time = { startedAt: 0, deadline: 1000, last: false }
    for (const generation of [0, 1, 2]) {
      suspects.add(record(generation), { wait: { notBefore: 2000, excessive: false } })
    }
    expect([0, 1, 2].map((number) => suspects.givenUp(number, time))).toEqual([1, 2, 3])
  })

  it('waits beyond its deadline: a wait that ends with it is waited for', () => {
    const { suspects, record } = setUpSuspects()
    suspects.add(record(), { wait: { notBefore: 1000, excessive: false } })
    const givenUp = (deadline: number) => suspects.givenUp(0, { startedAt: 0, deadline, last: false })
    expect([givenUp(999), givenUp(1000)]).toEqual([1, 0])
  })
})
