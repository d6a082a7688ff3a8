import { describe, expect, it } from 'vitest'
import { Attempt } from '../../src/delivery/attempt.js'
import type { Lane } from '../../src/delivery/lane.js'
import { RecordBatch } from '../../src/delivery/record-batch.js'
import type { RecordBuffer } from '../../src/delivery/record-buffer.js'
import { type Pending, pendingRecord } from '../../src/delivery/record-queue.js'
import type { Outcome, OutgoingBatch, Sender } from '../../src/delivery/sender.js'
import { KeyWriter } from '../../src/log/idempotency-key.js'
import { recordsOf, sendingBy } from '../support/batch.js'
import { addsUp, setUp } from '../support/delivery.js'
import { answers } from '../support/scripted-sender.js'
import { VirtualClock } from '../support/virtual-clock.js'

const generation = 0
const record = (sequence: number): Pending =>
  pendingRecord({ body: `${sequence}`, bytes: 1, severity: 2, idempotencyKey: `${sequence}` }, { sequence, generation })

/** An attempt with so many records, 1000 ms after the clock began, and what it has settled. */
async function setUpAttempt(count: number) {
  const clock = new VirtualClock()
  await clock.advance(1000)
  const settled: string[] = []
  const again: number[] = []
  const batch = new RecordBatch(new KeyWriter('k'))
  for (let sequence = 0; sequence < count; sequence++) batch.add(record(sequence))
  const attempt = new Attempt({
    lane: {
      name: { kind: 'logs', bucket: 'b' },
      settled: 5,
      sendAgain: (times: number) => again.push(times),
    } as unknown as Lane,
    batch,
    way: 'batch',
    fresh: false,
    clock,
    buffer: {
      settle: (_lane: Lane, { body }: Pending, { type }: Outcome) => settled.push(`${body} ${type}`),
      deliver: (_lane: Lane, of: RecordBatch, { from, count }: { from: number; count: number }) => {
        for (let index = from; index < from + count; index++) settled.push(`${of.textOf(index).body} delivered`)
      },
    } as unknown as RecordBuffer,
  })
  const run = (work: (batch: OutgoingBatch) => Promise<void>) => attempt.run({ send: sendingBy(work) } as Sender)
  const passed = (ms: number) => new Promise<void>((resolve) => clock.schedule(resolve, ms))
  return { clock, attempt, settled, again, run, passed }
}

describe('an attempt', () => {
  it('settles what the sender answered, and takes the rest for ambiguous when the sender ends without an outcome', async () => {
    const { settled, run } = await setUpAttempt(3)
    const { returned, successes } = await run(async (batch) => batch.settle(1, answers.delivered))
    expect(settled).toEqual(['1 delivered'])
    expect(successes).toBe(1)
    const outcome = {
      type: 'retry',
      exchange: 'ambiguous',
      reason: 'the sender gave no outcome',
      backPressure: false,
    }
    expect(returned.map(({ index, outcome }) => ({ index, outcome }))).toEqual([
      { index: 0, outcome },
      { index: 2, outcome },
    ])
  })

  it('gives the error of a sender that throws as the reason', async () => {
    const { attempt } = await setUpAttempt(1)
    const send = () => {
      throw new Error('a bug of the sender')
    }
    const { returned } = await attempt.run({ send } as unknown as Sender)
    expect(returned.map(({ outcome }) => outcome.reason)).toEqual(['Error: a bug of the sender'])
  })

  it('takes the first outcome of each record, and none for a record that it does not have', async () => {
    const { settled, run } = await setUpAttempt(2)
    const { returned, successes } = await run(async (batch) => {
      batch.settle(0, answers.delivered)
      batch.settle(0, answers.rejected)
      batch.settle(1, answers.refused)
      batch.settle(1, answers.delivered)
      batch.settle(2, answers.delivered)
      batch.settle(-1, answers.refused)
    })
    expect(settled).toEqual(['0 delivered'])
    expect(successes).toBe(1)
    expect(returned.map(({ outcome }) => outcome)).toEqual([answers.refused])
  })

  it('that is given up returns the records without success, and is changed by no later answer', async () => {
    const { clock, attempt, settled, run, passed } = await setUpAttempt(4)
    const result = run(async (batch) => {
      batch.settle(0, answers.delivered)
      batch.settle(1, answers.failed)
      await passed(10)
      batch.settle(2, answers.delivered)
      batch.settle(3, answers.failed)
    })
    await clock.advance(5)
    expect(attempt.abandon().map(({ body }) => body)).toEqual(['2', '3', '1'])
    await clock.advance(10)
    const { returned } = await result
    expect(settled).toEqual(['0 delivered'])
    expect(returned).toHaveLength(1)
  })

  it('waits for its first answer since it left, and for the next one since the one before', async () => {
    const { clock, attempt, run, passed } = await setUpAttempt(2)
    void run(async (batch) => {
      await passed(300)
      batch.settle(0, answers.delivered)
      await passed(300)
    })
    expect(attempt.waitsSince).toBe(1000)
    await clock.advance(299)
    expect(attempt.waitsSince).toBe(1000)
    await clock.advance(1)
    expect(attempt.waitsSince).toBe(1300)
  })

  it.each<[string, Outcome | 'silence', Outcome, readonly string[], readonly Outcome[]]>([
    [
      'the second where the first is silent',
      'silence',
      answers.delivered,
      ['0 delivered', '1 delivered', '2 delivered'],
      [],
    ],
    [
      'the second where the first breaks',
      answers.reset,
      answers.delivered,
      ['0 delivered', '1 delivered', '2 delivered'],
      [],
    ],
    [
      'what the second answers, whatever that is',
      'silence',
      answers.failed,
      ['0 delivered'],
      [answers.failed, answers.failed],
    ],
    // A record may have arrived by the first.
    [
      'the break of the first where both break',
      answers.reset,
      answers.refused,
      ['0 delivered'],
      [answers.reset, answers.reset],
    ],
  ])('sent twice takes, for the records without an answer, %s', async (_, first, second, settled, failures) => {
    const set = await setUpAttempt(3)
    const { clock, attempt, passed } = set
    const result = set.run(async (batch) => {
      batch.settle(0, answers.delivered)
      await passed(20)
      if (first === 'silence') await passed(10_000)
      batch.settle(1, first === 'silence' ? answers.reset : first, 2)
    })
    const bodies: string[] = []
    const race = async (batch: OutgoingBatch) => {
      expect(batch.fresh).toBe(true)
      bodies.push(...recordsOf(batch).map(({ body }) => body))
      await passed(30)
      batch.settle(0, second, 2)
    }
    attempt.race({ send: sendingBy(race) } as unknown as Sender, new RecordBatch(new KeyWriter('k')))
    await clock.advance(30)
    const { returned } = await result
    await clock.advance(20_000)
    expect(bodies).toEqual(['1', '2'])
    expect(set.again).toEqual([2])
    expect(set.settled).toEqual(settled)
    expect(returned.map(({ outcome }) => outcome)).toEqual(failures)
  })

  it('measures the time to its first success, and the mean time from one to the next', async () => {
    const { clock, run, passed } = await setUpAttempt(4)
    const result = run(async (batch) => {
      for (const [index, waitMs] of [300, 10, 20, 60].entries()) {
        await passed(waitMs)
        batch.settle(index, index === 3 ? answers.failed : answers.delivered)
      }
    })
    await clock.advance(1000)
    expect(await result).toMatchObject({ startedAt: 1000, settledBefore: 5, successes: 3 })
    expect(await result).toMatchObject({ firstAnswerMs: 300, betweenAnswersMs: 15 })
  })

  it('measures the time between two successes, and none for one, or for a batch that was written in parts', async () => {
    const settleAll = async (count: number, parted: boolean) => {
      const { clock, run, passed } = await setUpAttempt(count)
      const result = run(async (batch) => {
        if (parted) batch.parted()
        for (let index = 0; index < count; index++) {
          await passed(40)
          batch.settle(index, answers.delivered)
        }
      })
      await clock.advance(1000)
      return (await result).betweenAnswersMs
    }
    expect(await settleAll(2, false)).toBe(40)
    expect(await settleAll(2, true)).toBeUndefined()
    expect(await settleAll(1, false)).toBeUndefined()
  })

  it('takes one outcome for several records at once', async () => {
    const { clock, run, passed } = await setUpAttempt(4)
    const result = run(async (batch) => {
      await passed(300)
      batch.settle(0, answers.delivered, 2)
      await passed(60)
      batch.settle(2, answers.delivered)
      batch.settle(3, answers.failed, 1)
    })
    await clock.advance(1000)
    expect(await result).toMatchObject({ successes: 3, firstAnswerMs: 300, betweenAnswersMs: 30 })
    expect((await result).returned.map(({ index }) => index)).toEqual([3])
  })

  it('without a success has no time to its first one', async () => {
    const { run } = await setUpAttempt(1)
    const result = await run(async (batch) => batch.settle(0, answers.failed))
    expect(result).toMatchObject({ successes: 0, firstAnswerMs: undefined, betweenAnswersMs: undefined })
  })
})

describe('a sender with a bug', () => {
  it('costs no record and no count: what it did not answer is sent again', async () => {
    let calls = 0
    const { clock, delivery, log } = setUp({
      sender: {
        carriage: () => ({ sender: 'undici', maxDepth: 1 }),
        send(batch) {
          if (calls++ === 0) throw new Error('a bug of the sender')
          batch.settle(0, answers.delivered, batch.length)
          batch.done()
        },
        close: async () => {},
      },
    })
    log('one')
    await clock.advance(1)
    expect(delivery.stats()).toMatchObject({ queued: 1, ambiguousRetries: 1 })
    expect(delivery.stats().lanes[0]!.lastError).toBe('Error: a bug of the sender')
    await clock.advance(10_000)
    expect(delivery.stats()).toMatchObject({ delivered: 1, queued: 0, requests: 2 })
    expect(addsUp(delivery.stats())).toBe(true)
  })
})

/** A delivery whose lane has room for several connections: `numbers` records have been delivered. */
async function warm(numbers: number) {
  const set = setUp()
  for (let number = 0; number < numbers; number++) set.log(`warm ${number}`)
  await set.clock.advance(1000)
  set.sender.sent.length = 0
  return set
}

describe('a record that was never sent while others were delivered', () => {
  it('is no suspect: it waits for its own retry, longer each time, and its lane goes on', async () => {
    const { clock, delivery, log, sender, told } = await warm(200)
    const times: number[] = []
    let number = 0
    // A connection that breaks before anything is written, after others have had their answers.
    const send = sender.send.bind(sender)
    sender.send = (batch) => {
      if (batch.textOf(0).body !== 'odd') return send(batch)
      times.push(clock.now())
      clock.schedule(() => {
        batch.settle(0, answers.refused)
        batch.done()
      }, 30)
    }
    log('odd')
    for (let step = 0; step < 1000; step++) {
      log(`beside ${number++}`)
      await clock.advance(10)
    }
    const waits = times.slice(1).map((at, index) => at - times[index]! - 30)
    expect(waits.length).toBeGreaterThan(3)
    for (const [index, expected] of [250, 500, 1000, 2000].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(expected)
      expect(waits[index]).toBeLessThanOrEqual(expected + 20)
    }
    expect(delivery.stats()).toMatchObject({ delivered: 1200, queued: 1, rejected: 0 })
    expect(told).toEqual([])
  })
})

describe('a suspect', () => {
  /** A lane with a suspect that has failed once more, and nothing else. */
  async function withSuspect() {
    const set = await warm(100)
    set.sender.answer = (body) => (body === 'odd' ? answers.failed : answers.delivered)
    set.log('odd')
    for (let number = 0; number < 20; number++) set.log(`beside ${number}`)
    await set.clock.advance(20)
    expect(set.delivery.stats()).toMatchObject({ queued: 1, delivered: 120 })
    expect(set.delivery.stats().lanes[0]!.state).toBe('open')
    return set
  }

  it('whose failure may be its own leaves the lane open', async () => {
    const { clock, delivery } = await withSuspect()
    const { connections } = delivery.stats().lanes[0]!
    await clock.advance(60_000)
    expect(delivery.stats()).toMatchObject({ queued: 1 })
    expect(delivery.stats().lanes[0]).toMatchObject({ state: 'open', connections })
  })

  it('that cannot be sent shows an outage, in which the lane probes with it, less and less often', async () => {
    const { clock, sender, delivery, told } = await withSuspect()
    sender.answer = () => answers.refused
    await clock.advance(10_000)
    expect(delivery.stats().lanes[0]!.state).toBe('outage')
    sender.sent.length = 0
    await clock.advance(600_000)
    expect(sender.sent.length).toBeGreaterThan(10)
    expect(sender.sent.length).toBeLessThan(60)
    expect(told).toEqual(['logs outage ECONNREFUSED'])
    sender.answer = () => answers.delivered
    await clock.advance(60_000)
    expect(delivery.stats()).toMatchObject({ queued: 0, delivered: 121 })
    expect(delivery.stats().lanes[0]!.state).toBe('open')
  })

  it('that is answered by 401 pauses every lane', async () => {
    const { clock, sender, delivery, told } = await withSuspect()
    sender.answer = () => answers.wrongKey
    await clock.advance(10_000)
    expect(delivery.stats().lanes.map(({ state }) => state)).toEqual(['paused', 'paused'])
    expect(told).toEqual(['logs paused 401'])
  })
})
