import { describe, expect, it } from 'vitest'
import type { Limits } from '../../src/delivery/plan.js'
import type { Outcome } from '../../src/delivery/sender.js'
import { setUp } from '../support/delivery.js'
import { answers, ScriptedSender } from '../support/scripted-sender.js'
import { VirtualClock } from '../support/virtual-clock.js'

/** A delivery that notes when each record is sent. */
function setUpTimed({
  maxDepth = 1,
  latencyMs = 0,
  ...limits
}: { maxDepth?: number; latencyMs?: number } & Partial<Limits> = {}) {
  const clock = new VirtualClock()
  const scripted = new ScriptedSender(clock, { maxDepth })
  scripted.latencyMs = latencyMs
  const times: [number, string][] = []
  const batches: string[][] = []
  const send = scripted.send.bind(scripted)
  scripted.send = (batch) => {
    const from = scripted.sent.length
    send(batch)
    for (const body of scripted.sent.slice(from)) times.push([clock.now(), body])
    batches.push(scripted.sent.slice(from))
  }
  const set = setUp({ sender: scripted, limits: { maxQueueRecords: 1000, maxQueueBytes: 1_000_000, ...limits } }, clock)
  const logs = (...bodies: string[]) => {
    for (const body of bodies) set.log(body)
  }
  const states = () => set.delivery.stats().lanes.map(({ state }) => state)
  /** What is sent while so much time passes. */
  const sentIn = async (ms: number) => {
    const from = times.length
    await clock.advance(ms)
    return times.slice(from).map(([, body]) => body)
  }
  return { ...set, sender: scripted, times, batches, logs, states, sentIn }
}

const gaps = (times: readonly [number, string][]) => times.slice(1).map(([at], index) => at - times[index]![0])

describe('an outage', () => {
  it('is probed with one record at a time, after waits that double up to half a minute', async () => {
    const { clock, sender, times, logs } = setUpTimed()
    sender.answer = () => answers.refused
    logs('one', 'two', 'three')
    await clock.advance(90_000)
    // The random source is in the middle: half of each wait.
    expect(gaps(times)).toEqual([250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000, 15_000])
    expect(sender.maxInFlight).toBe(1)
  })

  it('of two lanes is probed by one of them at a time, in turn', async () => {
    const { clock, sender, times, logs, value } = setUpTimed({ latencyMs: 1 })
    sender.answer = () => answers.refused
    logs('log')
    value('value')
    await clock.advance(10)
    times.length = 0
    sender.latencyMs = 20_000
    await clock.advance(100_000)
    expect(times.map(([, body]) => body)).toEqual(['log', 'value', 'log', 'value', 'log'])
  })

  it('is over for one lane with a record of it that is taken; another lane probes at once, with short waits again', async () => {
    const { clock, sender, times, logs, value, states } = setUpTimed()
    sender.answer = (body) => (body === 'log' && clock.now() >= 30_000 ? answers.delivered : answers.refused)
    logs('log')
    value('value')
    await clock.advance(60_000)
    expect(states()).toEqual(['open', 'outage'])
    const last = times.findLastIndex(([, body]) => body === 'log')
    expect(times[last]![0]).toBeGreaterThanOrEqual(30_000)
    expect(gaps(times.slice(last, last + 4))).toEqual([0, 250, 500])
  })

  it('begins with short waits again after the one before', async () => {
    const { clock, sender, times, logs } = setUpTimed()
    sender.answer = () => answers.refused
    logs('one')
    await clock.advance(60_000)
    sender.answer = () => answers.delivered
    await clock.advance(60_000)
    times.length = 0
    sender.answer = () => answers.refused
    logs('two')
    await clock.advance(2000)
    expect(gaps(times)).toEqual([250, 500, 1000])
  })

  it.each([
    [9000, 3000],
    [3000, 9000],
  ])(
    'has the longest wait that the service asks for (%d and %d ms), and the next outage has none of it',
    async (...asked) => {
      const { clock, sender, times, logs } = setUpTimed({ latencyMs: 10 })
      logs(...Array.from({ length: 40 }, (_, number) => `warm ${number}`))
      await clock.advance(2000)
      times.length = 0
      sender.answer = (body) => {
        const [first, second] = asked
        if (clock.now() < 3000) return { ...answers.busy, retryAfterMs: body === 'one' ? first! : second! }
        return clock.now() < 30_000 ? answers.delivered : answers.refused
      }
      logs('one', 'two')
      await clock.advance(20_000)
      expect(times.map(([at]) => at).slice(0, 3)).toEqual([2000, 2000, 11_010])
      expect(times.length).toBe(4)
      times.length = 0
      await clock.advance(10_000)
      logs('three')
      await clock.advance(1000)
      expect(gaps(times)).toEqual([260, 510])
    },
  )

  it('has the longest wait also where the second record was sent because the first one may be at fault', async () => {
    const { clock, sender, times, logs } = setUpTimed()
    sender.answer = (body) => ({ ...answers.busy, retryAfterMs: body === 'one' ? 9000 : 3000 })
    logs('one', 'two')
    await clock.advance(10_000)
    expect(times.map(([at]) => at)).toEqual([0, 0, 9000])
  })

  it('has no wait any more that the service asked for before it took another record', async () => {
    const { clock, sender, times, logs } = setUpTimed()
    sender.answer = (body) => (body === 'one' ? { ...answers.busy, retryAfterMs: 9000 } : answers.delivered)
    logs('one', 'two')
    await clock.advance(100)
    sender.answer = () => answers.refused
    times.length = 0
    logs('three')
    await clock.advance(1000)
    expect(gaps(times)).toEqual([250, 500])
  })

  it('is probed as soon as a record comes, where a probe was due and there was none', async () => {
    const { clock, sender, logs, value, sentIn } = setUpTimed({ maxQueueRecords: 2 })
    sender.answer = (body) => (body.startsWith('value') ? answers.delivered : answers.refused)
    logs('shed')
    await clock.advance(1)
    sender.latencyMs = 50_000
    for (let number = 0; number < 2; number++) value(`value ${number}`)
    expect(await sentIn(40_000)).not.toContain('shed')
    sender.latencyMs = 0
    await clock.advance(60_000)
    logs('new')
    expect(await sentIn(0)).toEqual(['new'])
  })

  it('is probed as soon as a record comes, too, where a drain was under way and there was none', async () => {
    const { clock, sender, delivery, logs, value, sentIn } = setUpTimed({ maxQueueRecords: 2 })
    sender.answer = () => answers.refused
    logs('shed')
    await clock.advance(1)
    sender.answer = () => answers.delivered
    sender.latencyMs = 50_000
    for (let number = 0; number < 2; number++) value(`value ${number}`)
    void delivery.flush({ timeoutMs: 1000 })
    expect(await sentIn(200_000)).not.toContain('shed')
    sender.latencyMs = 0
    logs('new')
    expect(await sentIn(0)).toEqual(['new'])
  })

  it('is probed with each of its lanes at once when a drain begins', async () => {
    const { clock, sender, delivery, logs, value } = setUpTimed({ latencyMs: 1 })
    sender.answer = () => answers.refused
    logs('log')
    value('value')
    await clock.advance(20_000)
    sender.sent.length = 0
    sender.latencyMs = 5000
    void delivery.flush({ timeoutMs: 1000 })
    expect(sender.sent.toSorted()).toEqual(['log', 'value'])
  })

  it('is probed at the moment that was planned, also when requests are given up before', async () => {
    const { clock, sender, delivery, times, logs } = setUpTimed()
    sender.answer = () => answers.refused
    logs('one')
    await clock.advance(60_000)
    delivery.park()
    await clock.advance(60_000)
    expect(gaps(times.slice(-5))).toEqual([15_000, 15_000, 15_000, 15_000])
  })

  it('waits again after a probe for which there was no record before, and which was given up', async () => {
    const { clock, sender, delivery, logs, value, sentIn } = setUpTimed({ maxQueueRecords: 2 })
    sender.answer = (body) => (body.startsWith('value') ? answers.delivered : answers.refused)
    logs('shed')
    await clock.advance(1)
    sender.latencyMs = 1000
    for (let number = 0; number < 2; number++) value(`value ${number}`)
    await clock.advance(60_000)
    logs('new')
    expect(await sentIn(0)).toEqual(['new'])
    delivery.park()
    logs('newer')
    expect(await sentIn(0)).toEqual([])
    expect(await sentIn(1000)).toHaveLength(1)
  })

  it('of one lane that one record has caused hurries no probe of another lane', async () => {
    const { clock, sender, logs, value, sentIn, states } = setUpTimed()
    sender.answer = () => answers.refused
    value('value')
    await clock.advance(60_000)
    sender.answer = (body) => (body === 'good' ? answers.delivered : answers.failed)
    logs('bad', 'good')
    expect(await sentIn(200)).toEqual(['bad', 'good'])
    expect(states()).toEqual(['open', 'outage'])
  })

  it('sends no record again that was shed in it', async () => {
    const { clock, sender, delivery, logs, sentIn } = setUpTimed({ maxQueueRecords: 2 })
    sender.answer = () => answers.refused
    logs('one', 'two')
    await clock.advance(10_000)
    logs('three')
    sender.answer = () => answers.delivered
    expect(new Set(await sentIn(60_000))).toEqual(new Set(['two', 'three']))
    expect(delivery.stats()).toMatchObject({ delivered: 2, queued: 0, dropped: { 'queue-full': 1 } })
  })

  it('that one record alone has caused costs no connection: there was none', async () => {
    const { clock, sender, delivery, logs } = setUpTimed({ latencyMs: 1 })
    for (let number = 0; number < 300; number++) logs(`record ${number}`)
    await clock.advance(1000)
    const { connections } = delivery.stats().lanes[0]!
    expect(connections).toBeGreaterThan(1)
    sender.answer = (body) => (body === 'bad' ? answers.failed : answers.delivered)
    logs('bad')
    await clock.advance(2)
    expect(delivery.stats().lanes[0]).toMatchObject({ state: 'outage' })
    logs('good')
    await clock.advance(2)
    expect(delivery.stats().lanes[0]).toMatchObject({ state: 'open', connections })
  })
})

describe('the record that tests the service', () => {
  it('comes from both ends of the queue in turn; records that failed come last, in the order of their failures', async () => {
    const { clock, sender, times, logs } = setUpTimed()
    sender.answer = () => answers.refused
    logs('0', '1', '2', '3')
    await clock.advance(60_000)
    // The first of them was no probe yet.
    expect(times.map(([, body]) => body).slice(1, 8)).toEqual(['0', '3', '1', '2', '0', '3', '1'])
  })

  it('is a suspect in turn with the others, once all of these have failed', async () => {
    const { clock, sender, logs, sentIn } = setUpTimed()
    sender.answer = (body) => (body.startsWith('suspect') ? answers.failed : answers.delivered)
    for (const body of ['suspect 1', 'good', 'suspect 2', 'better']) {
      logs(body)
      await clock.advance(1)
    }
    sender.answer = () => answers.failed
    logs('a', 'b')
    const probes = (await sentIn(90_000)).slice(2)
    for (const [index, body] of probes.slice(1).entries()) {
      expect(body.startsWith('suspect')).toBe(!probes[index]!.startsWith('suspect'))
    }
    expect(new Set(probes)).toEqual(new Set(['suspect 1', 'suspect 2', 'a', 'b']))
  })
})

describe('a failure that its record may have caused', () => {
  it.each([
    ['500', answers.failed, 2],
    ['a reset', answers.reset, 2],
    ['404', answers.noBucket, 2],
    ['401', answers.wrongKey, 1],
    ['a request that was never sent', answers.refused, 1],
  ])('is put to the test with the newest record at once, or not: %s', async (_, outcome, requests) => {
    const { sender, logs, sentIn } = setUpTimed()
    sender.answer = () => outcome
    logs('one', 'two', 'three')
    expect(await sentIn(200)).toEqual(['one', 'three'].slice(0, requests))
  })

  it('of a probe is so in a pause, where waits are long, and in no outage', async () => {
    for (const [first, later, requests] of [
      [answers.failed, answers.failed, 1],
      [answers.noBucket, answers.failed, 2],
    ] as const) {
      const { clock, sender, logs, sentIn, times } = setUpTimed()
      sender.answer = () => first
      logs('one', 'two', 'three', 'four', 'five')
      await clock.advance(14_000)
      sender.answer = () => later
      const [next] = await sentIn(20_000)
      const at = times.find(([time, body]) => body === next && time > 14_000)![0]
      expect(times.filter(([time]) => time >= at && time < at + 100)).toHaveLength(requests)
    }
  })
})

describe('the end of an outage', () => {
  /** Twenty records, of which one after the other fails until a moment; then the service takes all. What is sent then, and when. */
  async function outage(ms: number, outcome: Outcome = answers.failed) {
    const set = setUpTimed()
    const { clock, times } = set
    set.sender.answer = () => (clock.now() < ms ? outcome : answers.delivered)
    set.logs(...Array.from({ length: 20 }, (_, number) => `${number}`))
    await clock.advance(ms + 40_000)
    const tried = times.filter(([at]) => at < ms)
    const after = times.filter(([at]) => at >= ms)
    const waits = new Map(after.map(([at, body]) => [body, at - after[0]![0]]))
    return { tried, waitOf: (body: string) => waits.get(body)! }
  }

  it('makes suspects, each with a wait of its own, of those that failed alone within the last minute, and of no earlier one', async () => {
    const { tried, waitOf } = await outage(65_000)
    expect(waitOf(tried[0]![1])).toBeLessThan(250)
    expect(waitOf(tried.at(-1)![1])).toBeGreaterThanOrEqual(250)
  })

  it('makes a suspect of one that failed alone in two outages, however long before their ends', async () => {
    const { clock, sender, times, logs } = setUpTimed()
    let end = Number.POSITIVE_INFINITY
    sender.answer = () => {
      // Between the outages one record is taken.
      const isTaken = clock.now() >= 65_000 && end === Number.POSITIVE_INFINITY
      if (isTaken) end = clock.now() + 65_000
      return isTaken || clock.now() >= end ? answers.delivered : answers.failed
    }
    logs('bad', ...Array.from({ length: 40 }, (_, number) => `${number}`))
    await clock.advance(200_000)
    const first = times.find(([at]) => at >= end)![0]
    const [, again, last] = times.filter(([, body]) => body === 'bad').map(([at]) => at)
    expect(end - again!).toBeGreaterThan(60_000)
    expect(last! - first).toBeGreaterThanOrEqual(250)
  })

  it('lets records that could not be sent wait for a moment, so that others go first', async () => {
    const { tried, waitOf } = await outage(3000, answers.refused)
    for (const [, body] of tried.slice(1)) expect(waitOf(body)).toBe(250)
    expect(waitOf('10')).toBeLessThan(250)
  })

  it('lets them go at once during a drain', async () => {
    const { clock, sender, delivery, times, logs } = setUpTimed({ latencyMs: 1 })
    sender.answer = (body) =>
      body === 'never' && delivery.stats().delivered === 0 ? answers.refused : answers.delivered
    logs('never')
    await clock.advance(2)
    void delivery.flush({ timeoutMs: 5000 })
    await clock.advance(2)
    logs('good')
    await clock.advance(2000)
    const [good, never] = times.slice(-2)
    expect([good![1], never![1]]).toEqual(['good', 'never'])
    expect(never![0] - good![0]).toBeLessThanOrEqual(25)
  })
})

const timedOut = { ...answers.reset, reason: 'no answer within 10 s', backPressure: true }

describe('records of one batch that fail together', () => {
  /** A lane whose next records go out in one batch. */
  async function setUpBatch() {
    const set = setUpTimed({ maxDepth: 8 })
    set.logs(...Array.from({ length: 100 }, (_, number) => `warm ${number}`))
    await set.clock.advance(100)
    set.times.length = 0
    return set
  }

  it('have the longest of the waits that the service asks for', async () => {
    const { clock, sender, times, logs } = await setUpBatch()
    sender.answer = (body) => ({ ...answers.busy, retryAfterMs: body === 'b' ? 9000 : 3000 })
    logs('a', 'b', 'c')
    await clock.advance(20_000)
    expect(times.slice(0, 4).map(([at]) => at)).toEqual([100, 100, 100, 9100])
  })

  it('are suspects when another one is taken in their place', async () => {
    const { clock, sender, times, logs } = await setUpBatch()
    sender.answer = (body) => (body === 'new' ? answers.delivered : answers.failed)
    logs('a', 'b')
    await clock.advance(0)
    expect(times).toHaveLength(2)
    logs('new')
    await clock.advance(240)
    expect(times.map(([, body]) => body)).toEqual(['a', 'b', 'new'])
    await clock.advance(100)
    expect(times).toHaveLength(5)
  })

  it('are none when that one fails, too: they go out at once after the outage', async () => {
    const { clock, sender, times, logs } = await setUpBatch()
    sender.answer = (body) => (body === 'newer' ? answers.delivered : answers.failed)
    logs('a', 'b')
    await clock.advance(0)
    logs('new')
    await clock.advance(0)
    logs('newer')
    await clock.advance(2)
    expect(times.map(([, body]) => body)).toEqual(['a', 'b', 'new'])
    await clock.advance(250)
    expect(times.slice(3).map(([, body]) => body)).toEqual(expect.arrayContaining(['newer', 'a', 'b']))
    expect(times.slice(3).map(([, body]) => body)).not.toContain('new')
  })

  it.each([
    ['go out together again where the service was busy: that says nothing of one of them', answers.busy, [['a', 'b']]],
    ['have a suspect where the first one got no answer in time', timedOut, [['b'], ['a']]],
    ['are suspects where the service has failed at each of them', answers.failed, [['a'], ['b']]],
  ] as const)('while another one is taken %s', async (_, outcome, expected) => {
    const { clock, sender, batches, logs } = await setUpBatch()
    sender.answer = (body) => (body === 'other' ? answers.delivered : outcome)
    sender.latencyMs = 100
    logs('a', 'b')
    await clock.advance(0)
    sender.latencyMs = 1
    logs('other')
    await clock.advance(50)
    batches.length = 0
    await clock.advance(50)
    sender.answer = () => answers.delivered
    await clock.advance(2000)
    expect(batches).toEqual(expected)
  })
})
