import { describe, expect, it } from 'vitest'
import type { Lane } from '../../src/delivery/lane.js'
import type { Outcome } from '../../src/delivery/sender.js'
import { pressureIsTheirOwn } from '../../src/delivery/suspects.js'
import { alone, suspect, together } from '../../src/log/segment.js'
import { MemorySpool } from '../log/memory-spool.js'
import { setUp } from '../support/delivery.js'
import { answers, ScriptedSender } from '../support/scripted-sender.js'
import { VirtualClock } from '../support/virtual-clock.js'
import { record, setUpWorld } from './world.js'

const { delivered, rejected, refused, reset, failed, busy, noBucket, wrongKey } = answers
const timedOut = { ...reset, backPressure: true }

describe('outcomes of several records at once', () => {
  it('settle these records alone, where records of another log stand between them', () => {
    const { world, together } = setUpWorld()
    const { delivered: before } = world.ledger
    together(() => {
      for (const severity of [4, 2, 2, 2, 4, 2] as const) world.add({ ...record, severity })
    })
    expect(world.sends.map(({ batch }) => batch.length)).toEqual([6])
    world.answer(0, 1 / 3, delivered)
    expect(world.ledger.delivered).toBe(before + 2)
    world.end(0, refused)
    expect(world.ledger).toMatchObject({ delivered: before + 2, inFlight: 4 })
    world.end(0, delivered)
    expect(world.ledger).toMatchObject({ delivered: before + 6, inFlight: 0 })
  })

  it('settle these records alone, where one between them waits', () => {
    const { world, burst } = setUpWorld()
    const { delivered: before } = world.ledger
    burst(4)
    world.answer(0, 1 / 4, refused)
    world.answer(0, 1 / 3, failed)
    world.answer(0, 1 / 2, refused)
    world.end(0, delivered)
    expect(world.sends.map(({ batch }) => batch.length)).toEqual([2])
    world.end(0, delivered)
    expect(world.ledger).toMatchObject({ delivered: before + 3, queued: 1, inFlight: 0 })
    world.recover()
    expect(world.ledger.delivered).toBe(before + 4)
  })

  it('reject each of them', () => {
    const { world, burst } = setUpWorld()
    burst(5)
    world.end(0, rejected)
    expect(world.ledger.rejected).toBe(5)
  })
})

/** A lane that rests, and steps that most tests need. */
function setUpLane(plan: Parameters<typeof setUpWorld>[0] = {}) {
  const set = setUpWorld({ isRepeatable: false, ...plan })
  const { world, logs } = set
  const lane = world.lanes[0]!
  /** Two requests are under way. */
  const two = (first = 1, second = 1) => {
    set.burst(first)
    set.burst(second)
    expect(world.sends.map(({ batch }) => batch.length)).toEqual([first, second])
  }
  /** A record fails in this way while another one is taken. */
  const failAmong = (outcome: Outcome) => {
    two()
    world.end(1, delivered)
    world.end(0, outcome)
    expect(world.sends).toEqual([])
  }
  /** The suspect that is due next goes alone. */
  const goAlone = () => {
    world.wait(lane.due.next - world.now)
    expect(world.sends.map(({ flight }) => flight.way)).toEqual(['alone'])
  }
  return { ...set, lane, logs, two, failAmong, goAlone }
}

/** How far the records are to blame that wait for their own next attempt. */
const blames = ({ due }: Lane) => [...due].map(({ blame }) => blame)

describe('a suspect with back-pressure', () => {
  /** So many of them fail again when they first go alone. */
  function setUpPressed(count: number, outcome: typeof busy | typeof failed = busy) {
    const set = setUpLane()
    for (let each = 0; each < count; each++) {
      set.failAmong(outcome)
      set.goAlone()
      // It is sent no more in this test.
      set.world.end(0, { ...outcome, retryAfterMs: 300_000 })
    }
    return set
  }

  it('shows that back-pressure is meant for single records, and one with another failure does not', () => {
    expect(pressureIsTheirOwn(setUpPressed(2).lane)).toBe(false)
    expect(pressureIsTheirOwn(setUpPressed(3).lane)).toBe(true)
    expect(pressureIsTheirOwn(setUpPressed(3, failed).lane)).toBe(false)
  })

  it('shows that it is not when it is taken', () => {
    const { world, lane, failAmong, goAlone } = setUpPressed(3)
    failAmong(busy)
    goAlone()
    world.end(0, delivered)
    expect(pressureIsTheirOwn(lane)).toBe(false)
  })

  it('shows nothing when the record before it or behind it is taken', () => {
    const { world, lane, burst } = setUpPressed(3)
    burst(4)
    for (const [share, outcome] of [
      [1 / 4, refused],
      [1 / 3, busy],
      [1 / 2, refused],
    ] as const) {
      world.answer(0, share, outcome)
    }
    world.end(0, delivered)
    expect(blames(lane).filter((blame) => blame === suspect)).toHaveLength(4)
    world.end(0, delivered)
    expect(pressureIsTheirOwn(lane)).toBe(true)
  })

  it('takes nothing of the window of its lane', () => {
    const { world, lane, failAmong, goAlone } = setUpLane()
    failAmong(failed)
    const { depth } = lane.window
    expect(depth).toBeGreaterThan(4)
    for (let time = 0; time < 4; time++) {
      goAlone()
      world.end(0, busy)
    }
    expect(lane.window.depth).toBe(depth)
  })
})

describe('the window of a lane', () => {
  /** Its depth before and after a record has failed in this way while another one was taken. */
  function depths(outcome: Outcome, { own = false } = {}): [before: number, after: number] {
    const { lane, failAmong } = setUpLane()
    if (own) lane.ownShare = 1
    const before = lane.window.depth
    failAmong(outcome)
    return [before, lane.window.depth]
  }

  it('shrinks where the service is busy and asks to wait, though it takes others', () => {
    const [before, after] = depths({ ...busy, retryAfterMs: 1000 })
    expect(after).toBeLessThan(before)
  })

  it.each([
    ['gets no answer in time while others are taken', timedOut, {}],
    ['finds the service busy, alone among many', busy, {}],
    ['finds the service busy, which is so for single records', { ...busy, retryAfterMs: 1000 }, { own: true }],
  ])('stays as it is where a record %s', (_, outcome, how) => {
    const [before, after] = depths(outcome, how)
    expect(after).toBe(before)
  })

  it('is as deep as answers come in the time of the first one', () => {
    const { world, lane, logs } = setUpLane({ maxConnections: 1 })
    for (let time = 0; time < 60; time++) {
      logs(8)
      world.wait(20)
      while (world.sends[0]!.left.size > 1) {
        world.answer(0, 0.01, delivered)
        world.wait(5)
      }
      world.end(0, delivered)
    }
    expect(lane.window.depth).toBe(5)
  })
})

describe('a batch of which nothing was taken, while another one was', () => {
  it.each([
    ['makes no suspects of records that the service refused together for its rate', 2, busy, 1, [0, 0]],
    ['makes suspects of them when that happens again', 2, busy, 2, [suspect, suspect]],
    ['makes a suspect of a single record', 1, busy, 1, [suspect]],
    ['makes suspects of records at each of which the service failed', 2, failed, 1, [suspect, suspect]],
    ['makes a suspect of the first record when its connection broke, and the others go out', 3, reset, 1, [suspect]],
    ['lets records that could not be sent wait', 2, refused, 1, [0, 0]],
  ])('%s', (_, count, outcome, times, expected) => {
    const { world, lane, two, burst } = setUpLane()
    for (let time = 1; time <= times; time++) {
      if (time === 1) two(count, 1)
      else {
        // Both are due.
        world.now += 2000
        world.step({ type: 'tick' })
        burst(1)
        expect(world.sends.map(({ batch }) => batch.length)).toEqual([count, 1])
      }
      world.end(1, delivered)
      world.end(0, outcome)
    }
    expect(blames(lane)).toEqual(expected)
    expect(lane.gate).toBeUndefined()
    world.recover()
  })

  it('makes suspects of those at fault where some of it was taken', () => {
    const { world, lane, burst } = setUpLane()
    burst(3)
    world.answer(0, 1 / 3, delivered)
    world.end(0, busy)
    expect(blames(lane)).toEqual([suspect, suspect])
  })

  it('says nothing of its records where the key is wrong', () => {
    const { world, lane, two } = setUpLane()
    two(2, 1)
    world.end(1, delivered)
    world.answer(0, 1 / 2, failed)
    world.end(0, wrongKey)
    expect(lane.state).toBe('paused')
    expect([blames(lane), [...lane.tried].map(({ blame }) => blame)]).toEqual([[], [alone]])
  })
})

describe('an older request of a lane that has stopped', () => {
  it('sends the lane again when some of its records are taken, though others fail', () => {
    const { world, lane, two } = setUpLane()
    two(1, 2)
    world.end(0, refused)
    expect(lane.state).toBe('outage')
    world.answer(0, 1 / 2, delivered)
    expect(lane.state).toBe('outage')
    world.end(0, failed)
    expect(lane.state).toBe('open')
    world.recover()
  })

  it('says little of its record when it fails: no other one is sent at once', () => {
    for (const [first, second] of [
      [refused, failed],
      [wrongKey, failed],
    ] as const) {
      const { world, lane, two, logs } = setUpLane()
      two()
      logs(0)
      world.end(0, first)
      logs(2)
      world.end(0, second)
      expect(world.sends).toEqual([])
      expect([...lane.tried].map(({ blame }) => blame)).toEqual([together])
      expect(lane.isConfirming).toBe(false)
    }
  })

  it('confirms no refusal', () => {
    const { world, lane, burst } = setUpLane()
    for (let each = 0; each < 3; each++) burst(1)
    world.wait(60_000)
    world.end(0, refused)
    world.end(0, noBucket)
    world.end(0, noBucket)
    expect(lane.state).toBe('outage')
    world.recover()
  })

  it('does not count for a probe that fails, though some of its records are taken', () => {
    const { world, lane, two, logs } = setUpLane()
    two(1, 2)
    world.end(0, refused)
    logs(1)
    world.wait(lane.gate!.probeAt - world.now)
    expect(world.sends.map(({ flight }) => flight.way)).toEqual(['batch', 'probe'])
    world.answer(0, 1 / 2, delivered)
    world.end(1, failed)
    expect([blames(lane), [...lane.tried].map(({ blame }) => blame)]).toEqual([[], [alone]])
    world.recover()
  })
})

describe('a record that is sent beside a request without an answer', () => {
  it('is a suspect when it fails and the other one is taken', () => {
    const { world, lane, logs } = setUpLane()
    logs(100)
    world.wait(2600)
    world.end(0, delivered)
    const probe = world.sends.findIndex(({ flight }) => flight.way === 'probe')
    world.end(probe, failed)
    expect(lane.state).toBe('open')
    expect(blames(lane)).toEqual([suspect])
    world.recover()
  })
})

describe('another record that is to show whose fault a failure was', () => {
  it('is sent again when the first one is of another log', () => {
    const { world } = setUpLane()
    world.add(record)
    world.end(0, failed)
    world.add({ ...record, severity: 4 })
    world.end(0, failed)
    expect(world.sends).toEqual([])
    world.recover()
  })

  it('shows it: where it fails, too, no third one is sent at once', () => {
    const { world, lane, failAmong, goAlone, logs } = setUpLane()
    failAmong(failed)
    goAlone()
    world.end(0, refused)
    expect(lane.state).toBe('outage')
    // The suspect tests the service, for there is no other record.
    while (world.sends.length === 0) world.wait(lane.gate!.probeAt - world.now)
    world.end(0, failed)
    logs(1)
    expect(world.sends).toHaveLength(1)
    world.end(0, failed)
    logs(1)
    expect(world.sends).toEqual([])
    world.recover()
  })

  it('is sent as soon as it comes, also when a suspect could not be sent meanwhile', () => {
    const { world, lane, failAmong, goAlone, logs } = setUpLane()
    failAmong(failed)
    goAlone()
    logs(1)
    world.end(1, failed)
    expect([lane.state, lane.isConfirming]).toEqual(['outage', true])
    world.end(0, refused)
    expect(world.sends).toEqual([])
    logs(1)
    expect(world.sends.map(({ flight }) => flight.way)).toEqual(['probe'])
    world.recover()
  })
})

describe('records on disk', () => {
  it('that are taken together leave it together', async () => {
    const clock = new VirtualClock()
    const sender = new ScriptedSender(clock, { maxDepth: 8 })
    sender.send = (batch) => {
      clock.schedule(() => {
        batch.settle(0, delivered, batch.length)
        batch.done()
      }, 1)
    }
    const spool = new MemorySpool()
    const settled: number[] = []
    const open = spool.open.bind(spool)
    spool.open = (segment) => {
      const file = open(segment)!
      return {
        ...file,
        settled: (index, count) => {
          settled.push(count)
          file.settled(index, count)
        },
      }
    }
    const { log } = setUp({ sender, backing: spool, maxBatch: 8 }, clock)
    for (let number = 0; number < 100; number++) log(`record ${number}`)
    await clock.advance(1000)
    expect(settled.reduce((sum, count) => sum + count, 0)).toBe(100)
    expect(Math.max(...settled)).toBe(8)
  })
})
