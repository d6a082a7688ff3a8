import { describe, expect, it } from 'vitest'
import { Refusals } from '../../src/delivery/breakers.js'
import type { Lane } from '../../src/delivery/lane.js'
import { type Pending, pendingRecord } from '../../src/delivery/record-queue.js'
import { setUp } from '../support/delivery.js'
import { answers } from '../support/scripted-sender.js'

const generation = 0
const record = (sequence: number): Pending =>
  pendingRecord({ body: '', bytes: 0, severity: 2, idempotencyKey: '' }, { sequence, generation })
const [first, second, third] = [record(1), record(2), record(3)]
const unknownBucket = answers.noBucket
const forbidden = answers.forbidden

/** Two lanes, and the question if a refusal at a moment confirms those before it. */
function setUpRefusals({ ready = 1 } = {}) {
  const lane = { ready: { length: ready }, lastSuccessAt: Number.NEGATIVE_INFINITY }
  const other = { ready: { length: ready }, lastSuccessAt: Number.NEGATIVE_INFINITY }
  const lanes = [lane, other] as unknown as readonly [Lane, Lane]
  const refusals = new Refusals(lanes)
  const refuse = (refused: Pending, refusal: typeof unknownBucket | typeof forbidden = unknownBucket, by = lanes[0]) =>
    refusals.confirmed(refusal, { lane: by, record: refused, now: 100_000 })
  return { lane, other, lanes, refusals, refuse }
}

describe('a refusal', () => {
  it('is confirmed by a second record with the same status, and by none with another', () => {
    const { refuse } = setUpRefusals()
    expect(refuse(first)).toBeUndefined()
    expect(refuse(second, { ...unknownBucket, status: 412 } as unknown as typeof unknownBucket)).toBeUndefined()
    expect(refuse(second)).toEqual(unknownBucket)
  })

  it('is confirmed by the same record only where there is no other one', () => {
    const withOthers = setUpRefusals({ ready: 1 })
    withOthers.refuse(first)
    expect(withOthers.refuse(first)).toBeUndefined()
    const alone = setUpRefusals({ ready: 0 })
    alone.refuse(first)
    expect(alone.refuse(first)).toEqual(unknownBucket)
  })

  it('needs three records while the lane has delivered lately', () => {
    const { lane, refuse } = setUpRefusals()
    lane.lastSuccessAt = 99_000
    expect([refuse(first), refuse(second)]).toEqual([undefined, undefined])
    expect(refuse(third)).toEqual(unknownBucket)
  })

  it('of the key counts the records of all lanes, and concerns all of them', () => {
    const { lanes, refuse } = setUpRefusals()
    expect(refuse(first, forbidden, lanes[0])).toBeUndefined()
    expect(refuse(second, forbidden, lanes[1])).toEqual(forbidden)
  })

  it('of the key concerns one lane alone when a single record confirms it, or another lane delivers', () => {
    const single = setUpRefusals({ ready: 0 })
    single.refuse(first, forbidden)
    expect(single.refuse(first, forbidden)).toEqual({ ...forbidden, scope: 'lane' })
    const beside = setUpRefusals()
    beside.other.lastSuccessAt = 99_000
    beside.refuse(first, forbidden)
    expect(beside.refuse(second, forbidden)).toEqual({ ...forbidden, scope: 'lane' })
  })

  it('of a bucket says nothing about other lanes', () => {
    const { lanes, refuse } = setUpRefusals()
    expect(refuse(first, unknownBucket, lanes[0])).toBeUndefined()
    expect(refuse(second, unknownBucket, lanes[1])).toBeUndefined()
    expect(refuse(third, unknownBucket, lanes[0])).toEqual(unknownBucket)
  })

  it('is forgotten when the service takes a record of its lane, or any record for the key', () => {
    const { lanes, refusals, refuse } = setUpRefusals()
    refuse(first, unknownBucket, lanes[0])
    refuse(first, unknownBucket, lanes[1])
    refuse(first, forbidden)
    refusals.clear(lanes[0])
    expect(refuse(second, unknownBucket, lanes[0])).toBeUndefined()
    expect(refuse(second, forbidden)).toBeUndefined()
    expect(refuse(second, unknownBucket, lanes[1])).toEqual(unknownBucket)
  })
})

describe('lanes that are paused for different reasons', () => {
  it('resume for themselves: a bucket that is unknown stays so when the key is right again', async () => {
    const { clock, sender, delivery, told, log, value } = setUp()
    const states = () => delivery.stats().lanes.map(({ state }) => state)
    sender.answer = () => answers.wrongKey
    log('log')
    value('value')
    await clock.advance(1000)
    expect(states()).toEqual(['paused', 'paused'])
    sender.answer = (body) => (body === 'value' ? answers.noBucket : answers.wrongKey)
    await clock.advance(600_000)
    sender.answer = (body) => (body === 'value' ? answers.noBucket : answers.delivered)
    for (let waited = 0; states()[0] === 'paused' && waited < 600; waited++) await clock.advance(1000)
    expect(states()).toEqual(['open', 'paused'])
    expect(told.at(-1)).toBe('logs resumed')
    expect(told).toContain('values paused 404')
    sender.answer = () => answers.delivered
    await clock.advance(600_000)
    expect(states()).toEqual(['open', 'open'])
    expect(delivery.stats()).toMatchObject({ delivered: 2, queued: 0 })
  })

  it('wait for the key together once it is wrong, too', async () => {
    const { clock, sender, delivery, told, log } = setUp()
    sender.answer = () => answers.noBucket
    log('log')
    await clock.advance(1000)
    expect(told).toEqual(['logs paused 404'])
    sender.answer = () => answers.wrongKey
    await clock.advance(60_000)
    expect(told).toEqual(['logs paused 404', 'logs paused 401'])
    expect(delivery.stats().lanes.map(({ state }) => state)).toEqual(['paused', 'paused'])
    // One breaker, one timer: the one of the bucket is gone.
    expect(clock.timers).toBe(1)
    sender.answer = () => answers.delivered
    await clock.advance(600_000)
    expect(delivery.stats().lanes.map(({ state }) => state)).toEqual(['open', 'open'])
  })
})

describe('the success of another lane with the same key', () => {
  it('says nothing about a record that was refused: it goes out at once, and is no suspect', async () => {
    const { clock, sender, delivery, log, value } = setUp({ limits: { maxQueueRecords: 2, maxQueueBytes: 1000 } })
    sender.answer = () => answers.forbidden
    log('log')
    value('value')
    await clock.advance(2000)
    expect(delivery.stats().lanes.map(({ state }) => state)).toEqual(['paused', 'paused'])
    sender.sent.length = 0
    const first = new Set<string>()
    sender.answer = (body) => {
      first.add(body)
      return first.size === 1 && first.has(body) ? answers.delivered : answers.failed
    }
    for (let waited = 0; first.size === 0 && waited < 600; waited++) await clock.advance(1000)
    await clock.advance(2)
    expect(new Set(sender.sent)).toEqual(new Set(['log', 'value']))
    expect(delivery.stats()).toMatchObject({ delivered: 1, queued: 1 })
  })
})

describe('a lane in which one record alone was at fault', () => {
  it('keeps the connections that it had: there was no outage', async () => {
    const { clock, sender, delivery, log } = setUp()
    for (let number = 0; number < 300; number++) log(`record ${number}`)
    await clock.advance(1000)
    const { connections } = delivery.stats().lanes[0]!
    expect(connections).toBeGreaterThan(1)
    sender.answer = (body) => (body === 'bad' ? answers.failed : answers.delivered)
    log('bad')
    await clock.advance(2)
    expect(delivery.stats().lanes[0]).toMatchObject({ state: 'outage' })
    log('good')
    await clock.advance(2)
    expect(delivery.stats().lanes[0]).toMatchObject({ state: 'open', connections })
  })
})

describe('a record that could not be sent while its lane had no success', () => {
  async function afterOutage(drains: boolean) {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = (body) => (body === 'never' ? answers.refused : answers.delivered)
    log('never')
    await clock.advance(2)
    if (drains) void delivery.flush({ timeoutMs: 5000 })
    log('good')
    while (delivery.stats().delivered === 0) await clock.advance(1)
    const recoveredAt = clock.now()
    const sentBefore = sender.sent.length
    while (sender.sent.length === sentBefore) await clock.advance(1)
    expect(sender.sent.at(-1)).toBe('never')
    return clock.now() - recoveredAt
  }

  it('lets others go first for a moment after the outage', async () => {
    const waitedMs = await afterOutage(false)
    expect(waitedMs).toBeGreaterThanOrEqual(250)
    expect(waitedMs).toBeLessThanOrEqual(275)
  })

  it('goes at once during a drain', async () => {
    expect(await afterOutage(true)).toBeLessThanOrEqual(25)
  })
})
