import { describe, expect, it } from 'vitest'
import { Concurrency } from '../../src/delivery/concurrency.js'
import { Lane } from '../../src/delivery/lane.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import { noWait } from '../../src/delivery/rules.js'
import { isHopeless, pressureIsTheirOwn, Suspects } from '../../src/delivery/suspects.js'
import { Turn } from '../../src/delivery/turn.js'
import { type Segment, type Trial, waiting } from '../../src/log/segment.js'
import { trialOf } from '../../src/log/trial.js'
import { setUp } from '../support/delivery.js'
import { answers } from '../support/scripted-sender.js'

/** The suspects of a lane without a machine around them: a test sends them, and says how that ends. */
function setUpSuspects({ capMs = 100 } = {}) {
  // The random source is in the middle: a retry comes after half of its longest backoff.
  const settings = { retry: { baseMs: 100, capMs }, random: () => 0.5 }
  const turn = new Turn(settings)
  const suspects = new Suspects({ ...settings, turn })
  const name = { kind: 'logs', bucket: 'b' } as const
  const lane = new Lane({
    name,
    index: 0,
    book: new LedgerBook([name]),
    window: new Concurrency({ maxConnections: 8, maxDepth: () => 1, patienceMs: 1000 }),
    sender: { carriage: () => ({ sender: 'pipelined', maxDepth: 1 }) },
    log: () => {
      throw new Error('no record comes')
    },
  })
  const add = ({ pressed = false, wait = noWait } = {}): Trial => {
    const trial = trialOf({ states: Uint8Array.of(waiting) } as Segment, 0)
    suspects.add(lane, trial, { wait, pressed })
    return trial
  }
  /** Let time pass, and take one that may go out then. */
  const takeAfter = (ms: number) => {
    turn.now += ms
    for (let due = lane.due.take(turn.now); due !== undefined; due = lane.due.take(turn.now)) suspects.isDue(lane, due)
    return suspects.take(lane)
  }
  const succeed = () => {
    lane.settled++
    lane.delivered++
  }
  /** It was sent alone, and failed. */
  const fail = (trial: Trial, outcome: Parameters<Suspects['failed']>[2] = answers.failed) => {
    const rejection = suspects.failed(lane, trial, outcome)
    suspects.wait(lane, trial, noWait)
    return rejection
  }
  const drain = ({ last = false } = {}) => {
    Object.assign(turn, { isDraining: true, drainsSince: turn.now, isLastDrain: last })
  }
  return { turn, lane, suspects, add, takeAfter, succeed, fail, drain }
}

describe('suspects that are due', () => {
  it('go out in the order in which they came due; those that never failed alone go first', () => {
    const { add, takeAfter, fail, succeed } = setUpSuspects()
    const [first, second] = [add(), add()]
    expect([takeAfter(100), takeAfter(0)]).toEqual([first, second])
    succeed()
    fail(second)
    fail(first)
    const fresh = add()
    expect([takeAfter(100), takeAfter(0), takeAfter(0), takeAfter(0)]).toEqual([fresh, second, first, undefined])
  })

  it('do not go out once they are shed', () => {
    const { add, takeAfter, fail, succeed } = setUpSuspects()
    const [first, second] = [add(), add()]
    takeAfter(100)
    takeAfter(0)
    succeed()
    fail(first)
    fail(second)
    first.segment.states[0] = 0
    expect([takeAfter(100), takeAfter(0)]).toEqual([second, undefined])
  })

  it('are rejected after eight failures, each with another delivery since the one before', () => {
    const { lane, add, succeed, fail } = setUpSuspects()
    const trial = add()
    for (let failure = 1; failure < 8; failure++) {
      expect(fail(trial)).toBeUndefined()
      // Nothing was delivered since, though another record was judged: this failure does not count.
      lane.settled++
      expect(fail(trial)).toBeUndefined()
      succeed()
    }
    expect(fail(trial)).toMatchObject({ type: 'rejected', status: 500 })
  })
})

describe('back-pressure that comes among successes', () => {
  /** Suspects fail when they first go alone. */
  function failAlone(set: ReturnType<typeof setUpSuspects>, count: number, { pressed = true } = {}) {
    for (let index = 0; index < count; index++) set.fail(set.add({ pressed }))
  }

  it('is meant for single records once most of them fail alone, too', () => {
    const set = setUpSuspects()
    const verdicts = [0, 1, 1, 1].map((count) => {
      failAlone(set, count)
      return pressureIsTheirOwn(set.lane)
    })
    expect(verdicts).toEqual([false, false, false, true])
  })

  it('is meant for the rate again when a suspect is taken at its first retry', () => {
    const set = setUpSuspects()
    failAlone(set, 3)
    set.suspects.acquitted(set.lane, set.add({ pressed: true }))
    expect(pressureIsTheirOwn(set.lane)).toBe(false)
  })

  it('is not judged by suspects that failed in another way', () => {
    const set = setUpSuspects()
    failAlone(set, 10, { pressed: false })
    expect(pressureIsTheirOwn(set.lane)).toBe(false)
  })

  it('is judged by the first retry alone: later ones, and a success after them, change nothing', () => {
    const set = setUpSuspects()
    failAlone(set, 1)
    const trial = set.add({ pressed: true })
    for (let time = 0; time < 3; time++) set.fail(trial)
    expect(pressureIsTheirOwn(set.lane)).toBe(false)
    failAlone(set, 1)
    set.suspects.acquitted(set.lane, trial)
    expect(pressureIsTheirOwn(set.lane)).toBe(true)
  })

  it('makes a suspect wait for its turn where the connections are busy and others are ready', async () => {
    const { clock, sender, log } = setUp()
    let isBusy = true
    sender.answer = (body) => (body === 'odd' && isBusy ? answers.busy : answers.delivered)
    for (let number = 0; number < 5; number++) log(`warm ${number}`)
    await clock.advance(100)
    sender.latencyMs = 1000
    // One is answered before the other.
    log('good')
    await clock.advance(1)
    log('odd')
    await clock.advance(1000)
    isBusy = false
    for (let number = 0; number < 30; number++) log(`more ${number}`)
    sender.sent.length = 0
    await clock.advance(900)
    expect(sender.sent.length).toBeGreaterThan(0)
    expect(sender.sent.length).toBeLessThan(8)
    expect(sender.sent).not.toContain('odd')
    await clock.advance(2000)
    expect(sender.sent).toContain('odd')
  })
})

describe('the gap between suspects of a lane without success', () => {
  it('comes after the fifth failure in a row, and not before; it grows, and ends by itself', () => {
    const { lane, suspects, turn, add, takeAfter, fail } = setUpSuspects({ capMs: 10_000 })
    const trials = Array.from({ length: 9 }, () => add())
    trials[0] = takeAfter(100)!
    for (const [index, gapMs] of [0, 0, 0, 0, 100, 200, 400].entries()) {
      fail(trials[index]!)
      expect(suspects.nextAt(lane) - turn.now).toBe(gapMs)
      if (gapMs > 0) expect(takeAfter(gapMs - 1)).toBeUndefined()
      const next = takeAfter(gapMs > 0 ? 1 : 0)!
      expect(next).toBeDefined()
      trials[index + 1] = next
    }
  })

  it.each(['a success of the lane', 'a drain'])('ends with %s', (how) => {
    const { add, takeAfter, fail, succeed, drain } = setUpSuspects()
    const trials = Array.from({ length: 7 }, () => add())
    takeAfter(100)
    for (const each of trials.slice(0, 5)) fail(each)
    for (let index = 1; index < 5; index++) trials[index]!.segment.states[0] = 0
    expect(takeAfter(0)).toBeUndefined()
    if (how === 'a drain') drain()
    else succeed()
    expect(takeAfter(0)).toBeDefined()
  })

  it('does not come while the lane has successes in between', () => {
    const { add, takeAfter, succeed, fail } = setUpSuspects()
    const trial = add()
    for (let time = 0; time < 7; time++) {
      expect(takeAfter(100)).toBe(trial)
      succeed()
      fail(trial)
    }
    expect(takeAfter(100)).toBe(trial)
  })
})

describe('the wait of a suspect', () => {
  it.each([
    [false, 3200],
    [true, 200],
  ])(
    'grows with each failure, during a drain (%s) no further than that of the second retry: %d ms',
    (drains, waitMs) => {
      const { lane, turn, suspects, add, succeed, drain } = setUpSuspects({ capMs: 10_000 })
      if (drains) drain()
      const trial = add()
      for (let time = 0; time < 6; time++) {
        succeed()
        suspects.failed(lane, trial, answers.failed)
      }
      suspects.wait(lane, trial, noWait)
      expect(lane.due.next - turn.now).toBe(waitMs)
    },
  )

  it('lasts until the moment that the service named', () => {
    const { add, takeAfter } = setUpSuspects()
    const trial = add({ wait: { notBefore: 2000, excessive: false } })
    expect([takeAfter(1999), takeAfter(1)]).toEqual([undefined, trial])
  })
})

describe('a suspect that failed before others succeeded, during a drain', () => {
  const asked = (excessive: boolean) => ({ notBefore: 5000, excessive })

  it.each([
    ['goes out at once beside the last drain where the wait is too long to honour', asked(true), true, 0],
    ['waits beside the last drain for a wait that is honoured', asked(false), true, 5000],
    ['waits beside other drains, however long it is', asked(true), false, 5000],
    ['goes out at once where the service asked for no wait', noWait, false, 0],
  ])('%s', (_, wait, last, waitMs) => {
    const { lane, suspects, takeAfter, drain } = setUpSuspects()
    drain({ last })
    const trial = trialOf({ states: Uint8Array.of(waiting) } as Segment, 0)
    Object.assign(trial, wait)
    suspects.addLate(lane, trial)
    if (waitMs > 0) expect(takeAfter(waitMs - 1)).toBeUndefined()
    expect(takeAfter(waitMs > 0 ? 1 : 0)).toBe(trial)
  })
})

describe('a suspect that failed twice within a drain without a success of its lane', () => {
  it('is given up, and waits while the drain is open; a later drain sends it', () => {
    const { turn, lane, add, takeAfter, fail, drain } = setUpSuspects()
    drain()
    const trial = add()
    const begunAt = turn.now
    for (const isGivenUp of [false, true]) {
      expect(takeAfter(100)).toBe(trial)
      fail(trial)
      expect(isHopeless(trial, lane, begunAt)).toBe(isGivenUp)
    }
    expect(takeAfter(100)).toBeUndefined()
    turn.now++
    drain()
    expect(takeAfter(100)).toBe(trial)
  })

  it('is not given up any more when the lane succeeds', () => {
    const { lane, add, takeAfter, fail, succeed, drain } = setUpSuspects()
    drain()
    const trial = add()
    for (let time = 0; time < 2; time++) {
      takeAfter(100)
      fail(trial)
    }
    succeed()
    expect(isHopeless(trial, lane, 0)).toBe(false)
    expect(takeAfter(100)).toBe(trial)
  })
})

describe('a suspect that could not be sent', () => {
  it('says nothing of a lane whose other records are taken meanwhile', async () => {
    const { clock, sender, delivery, log } = setUp()
    for (let number = 0; number < 20; number++) log(`warm ${number}`)
    await clock.advance(100)
    let attempts = 0
    sender.latencyMs = 10
    sender.answer = (body) => {
      if (body !== 'odd') return answers.delivered
      return attempts++ === 0 ? answers.failed : answers.refused
    }
    const seen = new Set<string>()
    log('odd')
    for (let step = 0; step < 400; step++) {
      // Others are answered in between.
      await clock.advance(3)
      log(`beside ${step}`)
      await clock.advance(2)
      if (attempts > 1) seen.add(delivery.stats().lanes[0]!.state)
    }
    expect(attempts).toBeGreaterThan(2)
    expect(seen).toEqual(new Set(['open']))
  })
})

describe('a suspect that tests the service', () => {
  it('and fails by what may be its own fault is confirmed by the next record at once', async () => {
    for (const [outcome, isAtOnce] of [
      [answers.failed, true],
      [answers.refused, false],
    ] as const) {
      const { clock, sender, log } = setUp()
      sender.answer = (body) => (body === 'odd' ? answers.failed : answers.delivered)
      log('odd')
      log('good')
      await clock.advance(10)
      // The lane has nothing else: it falls into an outage.
      sender.answer = () => answers.refused
      await clock.advance(10_000)
      sender.answer = () => outcome
      await clock.advance(16_000)
      expect(sender.sent.at(-1)).toBe('odd')
      sender.sent.length = 0
      log('new')
      await clock.advance(1)
      expect(sender.sent).toEqual(isAtOnce ? ['new'] : [])
    }
  })
})

describe('the connection of a record', () => {
  it('is a new one for a probe and after a retry without an answer, one that was not idle during a drain, and else any', async () => {
    const { clock, sender, delivery, log } = setUp()
    const used: string[] = []
    const send = sender.send.bind(sender)
    sender.send = (batch) => {
      used.push(`${batch.textOf(0).body} ${batch.connection}`)
      send(batch)
    }
    sender.answer = (body) => (body === 'odd' ? answers.reset : answers.delivered)
    log('odd')
    log('good')
    await clock.advance(2000)
    expect(used.slice(0, 4)).toEqual(['odd any', 'good new', 'odd any', 'odd new'])
    used.length = 0
    sender.answer = () => answers.delivered
    log('last')
    void delivery.flush({ timeoutMs: 1000 })
    await clock.advance(1000)
    expect(used).toEqual(expect.arrayContaining(['last lively', 'odd new']))
  })
})

describe('a drain', () => {
  it.each([
    [1999, true],
    [1998, false],
  ])(
    'of %d ms waits for a suspect whose Retry-After is over after 1999 ms, or does not: %s',
    async (timeoutMs, waits) => {
      const { clock, sender, delivery, log } = setUp()
      sender.latencyMs = 0
      for (let number = 0; number < 20; number++) log(`warm ${number}`)
      await clock.advance(100)
      sender.answer = (body) => (body === 'odd' ? { ...answers.busy, retryAfterMs: 1999 } : answers.delivered)
      log('odd')
      log('good')
      await clock.advance(0)
      const at = clock.now()
      let endedAt = Number.POSITIVE_INFINITY
      void delivery.flush({ timeoutMs }).then(() => {
        endedAt = clock.now()
      })
      await clock.advance(1999)
      expect(delivery.stats()).toMatchObject({ delivered: 21, queued: 1 })
      expect(endedAt - at).toBe(waits ? 1999 : 0)
    },
  )
})
