import { describe, expect, it } from 'vitest'
import type { Ledger } from '../../src/delivery/ledger.js'
import type { DeliveryPlan } from '../../src/delivery/plan.js'
import type { Sender } from '../../src/delivery/sender.js'
import { addsUp, setUp } from '../support/delivery.js'
import { answers } from '../support/scripted-sender.js'

describe('delivery', () => {
  it('sends a lone record at once, without waiting for company', async () => {
    const { clock, sender, log } = setUp()
    log('one')
    await clock.advance(0)
    expect(sender.sent).toEqual(['one'])
  })

  it('keeps the order of acceptance while nothing is retried', async () => {
    const { clock, sender, delivery, log } = setUp()
    const bodies = Array.from({ length: 200 }, (_, index) => `record ${index}`)
    for (const body of bodies) log(body)
    await clock.advance(5000)
    expect(sender.sent).toEqual(bodies)
    expect(delivery.stats()).toMatchObject({ accepted: 200, delivered: 200, queued: 0, inFlight: 0, requests: 200 })
  })

  it('uses more connections while the service keeps up, and never more than allowed', async () => {
    const { clock, sender, log } = setUp()
    for (let index = 0; index < 500; index++) log(`record ${index}`)
    await clock.advance(5000)
    expect(sender.maxInFlight).toBe(8)
  })

  it('probes with one record at a time while the service is out of reach, and delivers everything after', async () => {
    const { clock, sender, delivery, log, value } = setUp()
    sender.answer = () => answers.refused
    for (let index = 0; index < 100; index++) log(`record ${index}`)
    for (let index = 0; index < 100; index++) value(`value ${index}`)
    await clock.advance(60_000)
    expect(delivery.stats()).toMatchObject({ queued: 200, inFlight: 0, delivered: 0 })
    expect(delivery.stats().lanes.map(({ state }) => state)).toEqual(['outage', 'outage'])
    const during = sender.sent.length
    expect(during).toBeLessThan(16)

    sender.answer = () => answers.delivered
    await clock.advance(60_000)
    expect(delivery.stats()).toMatchObject({ delivered: 200, queued: 0, ambiguousRetries: 0 })
    expect(delivery.stats().lanes.map(({ state }) => state)).toEqual(['open', 'open'])
  })

  it('reports an outage that lasts, and its end, and reports no shorter one', async () => {
    const { clock, sender, told, log, value } = setUp()
    sender.answer = () => answers.refused
    log('in a short outage')
    await clock.advance(5000)
    sender.answer = () => answers.delivered
    await clock.advance(60_000)
    expect(told).toEqual([])

    sender.answer = () => answers.refused
    log('in a long one')
    await clock.advance(9900)
    expect(told).toEqual([])
    sender.answer = () => answers.busy
    await clock.advance(120_000)
    expect(told).toEqual(['logs outage ECONNREFUSED'])
    value('later')
    await clock.advance(60_000)
    expect(told.slice(1)).toEqual([expect.stringMatching(/^values outage /)])

    sender.answer = () => answers.delivered
    await clock.advance(60_000)
    expect(told.slice(2).sort()).toEqual(['logs resumed', 'values resumed'])
  })

  it('reports no outage because the thread was busy or stopped for a long time', async () => {
    const { clock, sender, told, log } = setUp()
    sender.answer = () => answers.refused
    log('before')
    await clock.advance(1000)
    clock.block(60_000)
    await clock.advance(0)
    expect(told).toEqual([])
    await clock.advance(10_000)
    expect(told).toEqual(['logs outage ECONNREFUSED'])
  })

  it.each([
    [1000, true],
    [1001, false],
  ])('reports an outage that it notices %d ms late: %s', async (lateMs, isTold) => {
    const { clock, sender, told, log } = setUp()
    sender.answer = () => answers.refused
    sender.latencyMs = 0
    log('one')
    await clock.advance(9999)
    clock.block(1 + lateMs)
    await clock.advance(0)
    expect(told).toHaveLength(isTold ? 1 : 0)
  })

  it('reports the pause and no outage when a lane is paused soon after its outage began', async () => {
    const { clock, sender, told, log } = setUp()
    sender.answer = () => answers.refused
    log('one')
    await clock.advance(5000)
    sender.answer = () => answers.wrongKey
    await clock.advance(60_000)
    expect(told).toEqual(['logs paused 401'])
  })

  it('reports no outage after the close', async () => {
    const { clock, sender, told, delivery, log } = setUp()
    sender.answer = () => answers.refused
    log('one')
    await clock.advance(3000)
    const closed = delivery.close({ timeoutMs: 100 })
    await clock.advance(200)
    expect((await closed).lanes[0]!.lastError).toBe('ECONNREFUSED')
    await clock.advance(60_000)
    expect(told).toEqual(['logs dropped 1 shutdown'])
  })

  it('names the missing answer as the last error when the end does not wait for it', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.latencyMs = 60_000
    log('one')
    await clock.advance(100)
    const closed = delivery.close({ timeoutMs: 100 })
    await clock.advance(200)
    expect((await closed).lanes[0]!.lastError).toBe('the service did not answer in time')
  })

  it('retries a record that fails among successes alone, without holding up the others', async () => {
    const { clock, sender, delivery, log } = setUp()
    for (let index = 0; index < 50; index++) log(`record ${index}`)
    await clock.advance(20)
    let failures = 3
    sender.answer = (body) => (body === 'odd' && failures-- > 0 ? answers.reset : answers.delivered)
    log('odd')
    for (let index = 0; index < 50; index++) log(`later ${index}`)
    await clock.advance(100)
    expect(delivery.stats()).toMatchObject({ delivered: 100, queued: 1 })
    expect(delivery.stats().lanes[0]!.state).toBe('open')
    await clock.advance(10_000)
    expect(delivery.stats()).toMatchObject({ delivered: 101, retries: 3, ambiguousRetries: 3 })
  })

  it('waits at least as long as Retry-After asks, also when it drains', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = () => ({ ...answers.busy, retryAfterMs: 10_000 })
    log('one')
    await clock.advance(5)
    const flushed = delivery.flush({ timeoutMs: 2000 })
    await clock.advance(9000)
    expect(sender.sent).toHaveLength(1)
    expect(await flushed).toMatchObject({ queued: 1 })
    sender.answer = () => answers.delivered
    await clock.advance(2000)
    expect(delivery.stats().delivered).toBe(1)
  })

  it('keeps a record that failed among successes for as long as Retry-After asks, drain or not', async () => {
    const { clock, sender, delivery, log } = setUp()
    for (let index = 0; index < 20; index++) log(`record ${index}`)
    await clock.advance(20)
    sender.answer = (body) => (body === 'odd' ? { ...answers.busy, retryAfterMs: 10_000 } : answers.delivered)
    log('odd')
    for (let index = 0; index < 20; index++) log(`beside ${index}`)
    await clock.advance(20)
    expect(delivery.stats()).toMatchObject({ queued: 1, delivered: 40 })
    sender.answer = () => answers.delivered
    void delivery.flush({ timeoutMs: 60_000 })
    await clock.advance(9900)
    expect(delivery.stats()).toMatchObject({ queued: 1, delivered: 40 })
    await clock.advance(1000)
    expect(delivery.stats()).toMatchObject({ queued: 0, delivered: 41 })
  })

  it('pauses every lane of a wrong key with one message, probes rarely, and resumes by itself', async () => {
    const { clock, sender, told, delivery, log, value } = setUp()
    sender.answer = () => answers.wrongKey
    for (let index = 0; index < 20; index++) log(`record ${index}`)
    for (let index = 0; index < 20; index++) value(`value ${index}`)
    await clock.advance(3_600_000)
    expect(sender.sent.length).toBeLessThanOrEqual(20)
    expect(told).toEqual(['logs paused 401'])
    expect(delivery.stats()).toMatchObject({ queued: 40, delivered: 0 })

    sender.answer = () => answers.delivered
    await clock.advance(300_000)
    expect(delivery.stats()).toMatchObject({ queued: 0, delivered: 40 })
    expect(told).toEqual(['logs paused 401', 'logs resumed'])
  })

  it('reports a pause again when its cause changes', async () => {
    const { clock, sender, told, log } = setUp()
    sender.answer = () => answers.wrongKey
    log('one')
    log('two')
    await clock.advance(10)
    sender.answer = () => answers.noBucket
    await clock.advance(60_000)
    expect(told).toEqual(['logs paused 401', 'logs paused 404'])
  })

  it('begins with one record in flight again after an outage', async () => {
    const { clock, sender, log } = setUp()
    for (let index = 0; index < 200; index++) log(`record ${index}`)
    await clock.advance(1000)
    expect(sender.maxInFlight).toBe(8)
    sender.answer = () => answers.refused
    for (let index = 0; index < 200; index++) log(`later ${index}`)
    await clock.advance(10_000)
    sender.maxInFlight = 0
    sender.answer = () => answers.delivered
    sender.sent.length = 0
    sender.latencyMs = 1000
    while (sender.sent.length < 2) await clock.advance(500)
    expect(sender.maxInFlight).toBe(1)
  })

  it('tries again within seconds while a drain waits, however long the outage has lasted', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = () => answers.refused
    log('one')
    await clock.advance(600_000)
    sender.sent.length = 0
    void delivery.flush({ timeoutMs: 5000 })
    await clock.advance(5000)
    expect(sender.sent.length).toBeGreaterThanOrEqual(4)
  })

  it('pauses one lane alone when its bucket is unknown', async () => {
    const { clock, sender, delivery, log, value } = setUp()
    sender.answer = (body) => (body.startsWith('record') ? answers.noBucket : answers.delivered)
    log('record')
    value('value')
    await clock.advance(1000)
    expect(delivery.stats().lanes.map(({ state, queued, delivered }) => [state, queued, delivered])).toEqual([
      ['paused', 1, 0],
      ['open', 0, 1],
    ])
  })

  it('gives up a lane that is still paused after the one attempt of a drain', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = () => answers.wrongKey
    log('one')
    await clock.advance(10)
    let ledger: Ledger | undefined
    void delivery.flush({ timeoutMs: 5000 }).then((result) => {
      ledger = result
    })
    await clock.advance(10)
    expect(ledger).toMatchObject({ queued: 1 })
    expect(sender.sent).toHaveLength(2)
  })

  it('makes an attempt at once when it drains during an outage', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = () => answers.refused
    log('one')
    await clock.advance(120_000)
    sender.answer = () => answers.delivered
    const flushed = delivery.flush({ timeoutMs: 100 })
    await clock.advance(10)
    expect(await flushed).toMatchObject({ delivered: 1, queued: 0 })
  })

  it('resolves a flush at its deadline when the service never answers', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.latencyMs = 1e9
    log('one')
    const flushed = delivery.flush({ timeoutMs: 5000 })
    await clock.advance(5000)
    expect(await flushed).toMatchObject({ inFlight: 1 })
  })

  it('waits in a flush for records that were accepted before it, and for no later ones', async () => {
    const { clock, sender, delivery, log } = setUp({ maxConnections: 1 })
    sender.latencyMs = 100
    log('before')
    await clock.advance(0)
    const flushed = delivery.flush({ timeoutMs: 60_000 })
    log('after')
    await clock.advance(110)
    expect(await flushed).toMatchObject({ accepted: 2, delivered: 1 })
  })

  it('counts records that are left at the end of a close as dropped by shutdown, and later ones as dropped by closed', async () => {
    const { clock, sender, delivery, log, told } = setUp()
    sender.latencyMs = 1e9
    log('in flight')
    log('queued')
    const closed = delivery.close({ timeoutMs: 1000 })
    expect(delivery.close({ timeoutMs: 5000 })).toBe(closed)
    log('late')
    await clock.advance(1000)
    const ledger = await closed
    expect(ledger).toMatchObject({ accepted: 3, queued: 0, inFlight: 0 })
    expect(ledger.dropped).toMatchObject({ shutdown: 2, closed: 1 })
    expect(addsUp(ledger)).toBe(true)
    expect(sender.closed).toBe(true)
    expect(told).toContain('logs dropped 1 closed')
    // Two timers of the sender: answers that never come, to the first record and to the one that was tried beside it.
    expect(clock.timers).toBe(2)
  })

  it('sends records in the order of their acceptance when it closes', async () => {
    const { clock, sender, delivery, log } = setUp({ maxConnections: 1 })
    sender.answer = () => answers.refused
    log('info', 2)
    await clock.advance(1)
    log('debug', 1)
    log('fatal', 5)
    log('error', 4)
    sender.sent.length = 0
    sender.answer = () => answers.delivered
    const closed = delivery.close({ timeoutMs: 1000 })
    await clock.advance(1000)
    await closed
    expect(sender.sent).toEqual(['info', 'debug', 'fatal', 'error'])
  })

  it('sends the most severe first when it closes and will not deliver all in time', async () => {
    const { clock, sender, delivery, log } = setUp({ maxConnections: 1 })
    sender.latencyMs = 50
    for (let number = 0; number < 100; number++) log(`info ${number}`)
    for (let number = 0; number < 5; number++) log(`error ${number}`, 4)
    const closed = delivery.close({ timeoutMs: 1000 })
    await clock.advance(1000)
    expect(await closed).toMatchObject({ delivered: 20 })
    // The first answers show how fast the service is.
    expect(sender.sent.slice(0, 2)).toEqual(['info 0', 'info 1'])
    const first = sender.sent.indexOf('error 0')
    expect(first).toBeLessThan(5)
    expect(sender.sent.slice(first, first + 5)).toEqual(['error 0', 'error 1', 'error 2', 'error 3', 'error 4'])
    expect(sender.sent[first + 5]).toBe(`info ${first}`)
  })

  it('survives an observer that throws', async () => {
    const { clock, sender, delivery, log } = setUp({
      observer: new Proxy({} as DeliveryPlan['observer'], {
        get: () => () => {
          throw new Error('listener')
        },
      }),
    })
    sender.answer = () => answers.rejected
    log('one')
    await clock.advance(10)
    expect(delivery.stats()).toMatchObject({ rejected: 1 })
  })
})

describe('the bounds of a delivery', () => {
  it('hold in records, including those in flight: the lowest severity leaves first, the oldest first within it', async () => {
    const { clock, sender, delivery, log, value } = setUp({ limits: { maxQueueRecords: 5, maxQueueBytes: 1000 } })
    sender.latencyMs = 50
    log('in flight')
    await clock.advance(0)
    log('debug 1', 1)
    log('debug 2', 1)
    log('info 1', 2)
    log('error 1', 4)
    value('value 1') // Costs debug 1.
    log('error 2', 4) // Costs debug 2.
    log('debug 3', 1) // Nothing is below it: it goes itself.
    log('info 2', 2) // Costs info 1, the oldest of its own severity.
    const ledger = delivery.stats()
    expect(ledger).toMatchObject({ accepted: 9, queued: 4, inFlight: 1 })
    expect(ledger.dropped['queue-full']).toBe(4)
    expect(addsUp(ledger)).toBe(true)

    const closed = delivery.close({ timeoutMs: 1000 })
    await clock.advance(1000)
    expect((await closed).delivered).toBe(5)
    expect([...sender.sent].sort()).toEqual(['error 1', 'error 2', 'in flight', 'info 2', 'value 1'])
  })

  it('hold in bytes, and shed nothing for a record that does not fit anyway', async () => {
    const { clock, sender, delivery, log } = setUp({ limits: { maxQueueRecords: 100, maxQueueBytes: 100 } })
    sender.latencyMs = 1e9
    for (let index = 0; index < 10; index++) log('x'.repeat(10))
    log('y'.repeat(101), 5)
    expect(delivery.stats()).toMatchObject({ queued: 10, heldBytes: 100 })
    log('z'.repeat(35), 5)
    expect(delivery.stats()).toMatchObject({ queued: 7, heldBytes: 95 })
    expect(delivery.stats().dropped['queue-full']).toBe(5)
    await clock.advance(0)
  })

  it('report once, when there is room again, how many records a lane lost', async () => {
    const { clock, sender, log, told } = setUp({ limits: { maxQueueRecords: 10, maxQueueBytes: 1000 } })
    sender.answer = () => answers.refused
    for (let index = 0; index < 30; index++) log(`record ${index}`)
    await clock.advance(60_000)
    sender.answer = () => answers.delivered
    await clock.advance(60_000)
    const dropped = told.filter((text) => text.includes('dropped'))
    expect(dropped).toHaveLength(20)
    expect(told.filter((text) => !text.includes('dropped'))).toEqual([
      'logs outage ECONNREFUSED',
      'logs resumed',
      'logs lost queue-full,20',
    ])
  })

  it('shed a record that waits for its own retry, too', async () => {
    const { clock, sender, delivery, log } = setUp({ limits: { maxQueueRecords: 20, maxQueueBytes: 1000 } })
    for (let index = 0; index < 10; index++) log(`first ${index}`)
    await clock.advance(20)
    sender.answer = (body) => (body === 'odd' ? answers.reset : answers.delivered)
    log('odd', 0)
    for (let index = 0; index < 5; index++) log(`beside ${index}`)
    await clock.advance(5)
    expect(delivery.stats()).toMatchObject({ queued: 1, delivered: 15 })

    sender.latencyMs = 1e9
    for (let index = 0; index < 20; index++) log(`later ${index}`, 4)
    const ledger = delivery.stats()
    expect(ledger.dropped['queue-full']).toBe(1)
    expect(ledger.queued + ledger.inFlight).toBe(20)
    expect(addsUp(ledger)).toBe(true)
    await clock.advance(60_000)
    expect(sender.sent.filter((body) => body === 'odd')).toHaveLength(1)
  })
})

describe('a record that the service did not process after others of its batch', () => {
  it('goes out again at once: nothing was wrong with it', async () => {
    const sizes: number[] = []
    const unsent = { ...answers.refused, reason: 'the server closes the connection' }
    const sender: Sender = {
      carriage: () => ({ sender: 'pipelined', maxDepth: 8 }),
      send(batch) {
        sizes.push(batch.length)
        for (let index = 0; index < batch.length; index++) batch.settle(index, index < 1 ? answers.delivered : unsent)
        batch.done()
      },
      async close() {},
    }
    const { delivery, clock, log } = setUp({ sender })
    for (let number = 0; number < 40; number++) log(`${number}`)
    await clock.advance(0)
    expect(delivery.stats()).toMatchObject({ delivered: 40, queued: 0, ambiguousRetries: 0 })
    expect(Math.max(...sizes)).toBeGreaterThan(1)
  })
})
