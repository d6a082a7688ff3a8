import { describe, expect, it } from 'vitest'
import type { Outcome, Outgoing, Sender } from '../../src/delivery/sender.js'
import { recordsOf } from '../support/batch.js'
import { addsUp, setUp } from '../support/delivery.js'
import { leave } from '../support/lone-spool.js'
import { answers } from '../support/scripted-sender.js'
import { SimulatedServer } from '../support/simulated-server.js'
import { passUntil, setUpSpool, spoolFolder } from '../support/spool.js'
import { VirtualClock } from '../support/virtual-clock.js'

const numbers = (count: number, name = 'good') => Array.from({ length: count }, (_, index) => `${name} ${index}`)
const isBad = (body: string) => body.startsWith('bad')
/** A service that answers bad records in this way, and takes all others. */
const refusing = (outcome: Outcome) => (body: string) => (isBad(body) ? outcome : answers.delivered)

/** Send one record that fails in this way, then a good one each second. */
async function among(outcome: Outcome, seconds: number) {
  const set = setUp()
  const { clock, sender, log } = set
  sender.answer = refusing(outcome)
  log('bad')
  for (let second = 0; second < seconds; second++) {
    log(`good ${second}`)
    await clock.advance(1000)
  }
  const attempts = sender.sent.filter((body) => body === 'bad').length
  return { ...set, attempts, ledger: set.delivery.stats() }
}

describe('a record that fails where others succeed', () => {
  it.each([
    ['500', answers.failed],
    ['503', answers.busy],
    ['a reset', answers.reset],
    ['403', answers.forbidden],
    ['404', answers.noBucket],
  ])('with %s does not stop the others, is rejected after eight more failures, and says why', async (_, outcome) => {
    const { clock, ledger, told, delivery, attempts } = await among(outcome, 200)
    expect(ledger).toMatchObject({ delivered: 200, rejected: 1, queued: 0 })
    expect(ledger.lanes[0]!.lastError).toMatch(/^failed again and again while others were delivered; last: /)
    // An attempt counts only when another record was delivered since the one before.
    expect(attempts).toBeGreaterThanOrEqual(9)
    expect(attempts).toBeLessThan(12)
    expect(told).toEqual(['logs rejected'])
    expect(addsUp(delivery.stats())).toBe(true)
    expect(clock.timers).toBe(0)
  })

  it('is confirmed by another record at once: one request more than without it', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = refusing(answers.failed)
    log('bad')
    for (const body of numbers(100)) log(body)
    await clock.advance(100)
    expect(sender.sent.slice(0, 2)).toEqual(['bad', 'good 99'])
    expect(delivery.stats()).toMatchObject({ delivered: 100, queued: 1, requests: 101 })
    expect(delivery.stats().lanes[0]!.state).toBe('open')
  })

  it('is confirmed as soon as there is another record', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = refusing(answers.failed)
    log('bad')
    await clock.advance(600_000)
    log('good')
    await clock.advance(2)
    expect(delivery.stats()).toMatchObject({ delivered: 1, queued: 1 })
  })

  it('counts a failure only when another record was delivered since the one before', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = refusing(answers.failed)
    log('bad')
    log('good')
    await clock.advance(1000)
    await clock.advance(86_400_000)
    expect(sender.sent.length).toBeGreaterThan(100)
    expect(delivery.stats()).toMatchObject({ delivered: 1, rejected: 0, queued: 1 })
  })

  it('is not rejected while the service takes no other record, and only rejects them', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = (body) => (isBad(body) ? answers.failed : answers.rejected)
    log('bad')
    for (const body of numbers(100)) {
      log(body)
      await clock.advance(1000)
    }
    expect(sender.sent.filter(isBad).length).toBeGreaterThan(9)
    expect(delivery.stats()).toMatchObject({ rejected: 100, queued: 1 })
  })

  it('is no suspect when it was never sent: it is never rejected, however often that happens', async () => {
    const { ledger, attempts } = await among(answers.refused, 300)
    expect(attempts).toBeGreaterThan(12)
    expect(ledger).toMatchObject({ rejected: 0, queued: 1, delivered: 300 })
  })

  it('goes alone, and takes none of its neighbours with it a second time', async () => {
    const batches: string[][] = []
    const clock = new VirtualClock()
    const resetsAt = ({ body }: Outgoing) => isBad(body)
    const server = new SimulatedServer(clock, { serviceMs: () => 20, pipelined: 'one-by-one', maxDepth: 8, resetsAt })
    const sender: Sender = {
      carriage: () => server.carriage(),
      send(batch) {
        batches.push(recordsOf(batch).map(({ body }) => body))
        server.send(batch)
      },
      close: async () => {},
    }
    const { delivery, log } = setUp({ sender }, clock)
    // Records come in bursts: most batches have several.
    for (let step = 0; step < 40; step++) {
      for (const [index, body] of numbers(150, `${step}`).entries()) {
        if (step === 10 && index === 75) log('bad')
        log(body)
      }
      await clock.advance(500)
    }
    const [first, ...later] = batches.filter((batch) => batch.includes('bad'))
    expect(first!.length).toBeGreaterThan(1)
    expect(later.length).toBeGreaterThan(2)
    expect(later.filter((batch) => batch.length > 1)).toEqual([])
    // The records behind it went out again at once, with others.
    const repeated = batches.flat().length - new Set(batches.flat()).size - later.length
    expect(repeated).toBe(first!.length - 1 - first!.indexOf('bad'))
    await clock.advance(1000)
    expect(delivery.stats()).toMatchObject({ delivered: 6000 })
  })

  it('is shed before all others when memory is full, whatever its severity', async () => {
    const { clock, sender, delivery, log, value } = setUp({ limits: { maxQueueRecords: 10, maxQueueBytes: 1000 } })
    sender.answer = refusing(answers.failed)
    log('bad', 5)
    value('bad value')
    log('good')
    value('good value')
    await clock.advance(5)
    expect(delivery.stats()).toMatchObject({ delivered: 2, queued: 2 })
    sender.answer = () => answers.refused
    for (const body of numbers(10, 'debug')) log(body, 0)
    sender.sent.length = 0
    expect(delivery.stats().dropped['queue-full']).toBe(2)
    await clock.advance(1000)
    sender.answer = () => answers.delivered
    await clock.advance(60_000)
    expect(sender.sent.filter(isBad)).toEqual([])
    expect(delivery.stats()).toMatchObject({ delivered: 12, queued: 0 })
  })

  it('does not keep others from being adopted, one of which confirms it', async () => {
    const dir = spoolFolder()
    leave(dir, ['one', 'two', 'three'])
    const { clock, sender, delivery, log } = setUpSpool(dir)
    sender.answer = refusing(answers.failed)
    log('bad')
    await clock.advance(1)
    await passUntil(clock, 10_000, () => delivery.stats().delivered === 3)
    expect(delivery.stats()).toMatchObject({ adopted: 3, delivered: 3, queued: 1 })
    expect(delivery.stats().lanes[0]!.state).toBe('open')
  })

  it('makes no storm together with others of its kind when the service fails altogether', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = refusing(answers.failed)
    for (const body of [...numbers(200, 'bad'), ...numbers(50)]) log(body)
    await clock.advance(5000)
    expect(delivery.stats()).toMatchObject({ delivered: 50, queued: 200 })
    await clock.advance(60_000)
    sender.sent.length = 0
    await clock.advance(600_000)
    expect(sender.sent.length).toBeLessThan(120)
  })
})

describe('a record without an answer', () => {
  it('holds up its own connection: another is tried beside it, and when that succeeds the others go on', async () => {
    const { clock, log, delivery } = setUp({
      sender: {
        carriage: () => ({ sender: 'undici', maxDepth: 1 }),
        send: (batch) => {
          if (isBad(batch.textOf(0).body)) return
          batch.settle(0, answers.delivered, batch.length)
          batch.done()
        },
        close: async () => {},
      },
    })
    log('bad')
    for (const body of numbers(100)) log(body)
    await clock.advance(2499)
    expect(delivery.stats()).toMatchObject({ delivered: 0, inFlight: 1 })
    await clock.advance(10)
    expect(delivery.stats()).toMatchObject({ delivered: 100, inFlight: 1 })
  })

  it('costs a silent service one more request, however many records wait', async () => {
    const { clock, sender, log } = setUp()
    sender.latencyMs = 10_000
    sender.answer = () => ({ ...answers.reset, backPressure: true })
    for (const body of numbers(100)) log(body)
    await clock.advance(9999)
    expect(sender.sent).toHaveLength(2)
  })
})

describe('a refusal', () => {
  it.each([
    ['403', answers.forbidden],
    ['404', answers.noBucket],
  ])('%s of one record pauses nothing; the same of a second one pauses, with one message', async (status, outcome) => {
    const { clock, sender, delivery, told, log } = setUp()
    sender.answer = refusing(outcome)
    log('bad')
    log('good')
    await clock.advance(1000)
    expect(told).toEqual([])
    sender.answer = () => outcome
    for (const body of numbers(10)) log(body)
    await clock.advance(2000)
    expect(told).toEqual([`logs paused ${status}`])
    expect(delivery.stats().lanes[0]!.state).toBe('paused')
    sender.answer = () => answers.delivered
    await clock.advance(60_000)
    expect(delivery.stats()).toMatchObject({ queued: 0, delivered: 12 })
  })

  it('pauses a lane that has one record alone when it comes again', async () => {
    const { clock, sender, told, log } = setUp()
    sender.answer = () => answers.noBucket
    log('one')
    await clock.advance(100)
    expect(told).toEqual([])
    await clock.advance(500)
    expect(told).toEqual(['logs paused 404'])
    expect(sender.sent).toHaveLength(2)
  })

  it('of the key pauses the lanes that deliver nothing, and no lane that delivers', async () => {
    const { clock, sender, delivery, told, log, value } = setUp()
    sender.answer = (body) => (body.startsWith('good') ? answers.delivered : answers.forbidden)
    value('good value')
    for (const body of numbers(10, 'bad')) log(body)
    await clock.advance(2000)
    expect(delivery.stats().lanes.map(({ state }) => state)).toEqual(['paused', 'open'])
    expect(told).toEqual(['logs paused 403'])
  })

  it('of the key pauses all its lanes where none delivers', async () => {
    const { clock, sender, delivery, told, log, value } = setUp()
    sender.answer = () => answers.forbidden
    log('one')
    value('two')
    await clock.advance(2000)
    expect(delivery.stats().lanes.map(({ state }) => state)).toEqual(['paused', 'paused'])
    expect(told).toEqual(['values paused 403'])
  })

  it('lets a lane go on as soon as another record is taken, though it is paused', async () => {
    const { clock, sender, delivery, told, log } = setUp()
    sender.answer = refusing(answers.noBucket)
    log('bad')
    await clock.advance(1000)
    expect(told).toEqual(['logs paused 404'])
    log('good')
    await clock.advance(2)
    expect(delivery.stats()).toMatchObject({ delivered: 1 })
    expect(told).toEqual(['logs paused 404', 'logs resumed'])
  })
})

describe('a drain', () => {
  it('of close() ends as soon as each of many that fail again and again has had its attempts', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = refusing(answers.failed)
    sender.latencyMs = 20
    for (const [index, body] of numbers(300, 'bad').entries()) {
      log(body)
      log(`good ${index}`)
    }
    for (const body of numbers(100, 'last')) log(body)
    let endedAt: number | undefined
    const closed = delivery.close({ timeoutMs: 60_000 }).then((ledger) => {
      endedAt = clock.now()
      return ledger
    })
    await clock.advance(60_000)
    expect(await closed).toMatchObject({ delivered: 400, dropped: { shutdown: 300 } })
    // Each goes out two or three times, two at a time.
    expect(endedAt).toBeLessThan(15_000)
  })

  it('of close() delivers a thousand records behind one that the service does not take, and does not wait for it', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = refusing(answers.failed)
    log('bad', 5)
    for (const body of numbers(999)) log(body)
    const closed = delivery.close({ timeoutMs: 60_000 })
    const startedAt = clock.now()
    let endedAt = Number.POSITIVE_INFINITY
    void closed.then(() => {
      endedAt = clock.now()
    })
    await clock.advance(60_000)
    expect(endedAt - startedAt).toBeLessThan(3000)
    expect((await closed).dropped.shutdown).toBe(1)
    expect(await closed).toMatchObject({ delivered: 999, queued: 0, inFlight: 0 })
  })

  it('makes one attempt with a suspect that waits, and gives it up', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = refusing(answers.failed)
    log('bad')
    log('good')
    await clock.advance(300_000)
    sender.sent.length = 0
    let ledger: unknown
    void delivery.flush({ timeoutMs: 60_000 }).then((result) => {
      ledger = result
    })
    await clock.advance(5)
    expect(sender.sent).toEqual(['bad'])
    expect(ledger).toMatchObject({ delivered: 1, queued: 1 })
  })

  it('sends a suspect again that failed once: it may be innocent', async () => {
    const { clock, sender, delivery, log } = setUp()
    let failures = 2
    sender.answer = (body) => (isBad(body) && failures-- > 0 ? answers.failed : answers.delivered)
    log('bad')
    for (const body of numbers(10)) log(body)
    const closed = delivery.close({ timeoutMs: 5000 })
    await clock.advance(5000)
    expect(await closed).toMatchObject({ delivered: 11 })
  })
})
