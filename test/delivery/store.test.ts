import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Severity } from '../../src/records/level.js'
import { addsUp, setUp } from '../support/delivery.js'
import { runs } from '../support/full.js'
import { MemoryStore } from '../support/memory-store.js'
import { answers } from '../support/scripted-sender.js'

const trouble = fc.constantFrom(...Object.values(answers))
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ log: fc.nat(30), severity: fc.integer({ min: 0, max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ value: fc.nat(10) }) },
  { weight: 1, arbitrary: fc.record({ keyed: fc.nat(10) }) },
  { weight: 3, arbitrary: fc.record({ answer: trouble }) },
  { weight: 3, arbitrary: fc.record({ passMs: fc.constantFrom(1, 50, 5000, 400_000) }) },
  { weight: 1, arbitrary: fc.record({ flushMs: fc.constantFrom(0, 1000) }) },
  { weight: 1, arbitrary: fc.record({ broken: fc.boolean() }) },
)

describe('delivery with a store', () => {
  it('loses no record that the store has, accounts for every record at every instant, and settles each place once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.boolean(), async (steps, close) => {
        const store = new MemoryStore()
        const { clock, sender, delivery, log, value } = setUp({
          store,
          limits: { maxQueueRecords: 8, maxQueueBytes: 10_000 },
        })
        const keyed = (body: string) => delivery.accept(1, { body, severity: 6, idempotencyKey: `key of ${body}` })
        let number = 0
        for (const each of steps) {
          if ('log' in each) for (let n = 0; n < each.log; n++) log(`log ${number++}`, each.severity as Severity)
          else if ('value' in each) for (let n = 0; n < each.value; n++) value(`value ${number++}`)
          else if ('keyed' in each) for (let n = 0; n < each.keyed; n++) keyed(`keyed ${number++}`)
          else if ('answer' in each) sender.answer = () => each.answer
          else if ('flushMs' in each) void delivery.flush({ timeoutMs: each.flushMs })
          else if ('broken' in each) store.broken = each.broken
          else await clock.advance(each.passMs)
          const ledger = delivery.stats()
          expect(addsUp(ledger)).toBe(true)
          expect(ledger.queued + ledger.inFlight).toBeLessThanOrEqual(8)
          expect(ledger.spooled).toBe(store.kept.filter(({ state }) => state === 'parked').length)
        }
        if (close) {
          store.broken = false
          const closed = delivery.close({ timeoutMs: 100 })
          await clock.advance(100)
          expect(await closed).toMatchObject({ queued: 0, inFlight: 0, heldBytes: 0 })
          expect((await closed).dropped.shutdown).toBe(0)
        } else {
          sender.answer = () => answers.delivered
          const { stats } = delivery
          const open = ({ spooled, queued, inFlight } = stats.call(delivery)) => spooled + queued + inFlight > 0
          for (let round = 0; round < 50 && open(); round++) await clock.advance(400_000)
          expect(delivery.stats()).toMatchObject({ queued: 0, inFlight: 0, spooled: 0, heldBytes: 0 })
          const left = store.kept.filter(({ state }) => state !== 'settled')
          expect(left.map(({ body, state }) => `${body} ${state}`)).toEqual([])
        }
        expect(addsUp(delivery.stats())).toBe(true)
      }),
      { numRuns: runs({ some: 80, all: 3000 }) },
    )
  }, 60_000)
})

describe('the parking of a delivery, before a signal that may end the process', () => {
  it('leaves every record to the store, those in flight too; the next flush brings them back', async () => {
    const store = new MemoryStore()
    const { clock, sender, delivery, log, value } = setUp({ store })
    sender.answer = () => answers.refused
    for (let number = 0; number < 5; number++) log(`log ${number}`)
    value('value')
    await clock.advance(2000)
    sender.latencyMs = 10_000
    while (delivery.stats().inFlight === 0) await clock.advance(100)
    expect(delivery.park()).toMatchObject({ accepted: 6, spooled: 6, queued: 0, inFlight: 0, heldBytes: 0 })
    sender.latencyMs = 1
    sender.answer = () => answers.delivered
    const flushed = delivery.flush({ timeoutMs: 60_000 })
    await clock.advance(60_000)
    expect(await flushed).toMatchObject({ delivered: 6, spooled: 0 })
    expect(store.kept.map(({ state }) => state)).toEqual(new Array(6).fill('settled'))
  })

  it.each(['a flush', 'new records'])(
    'stops no lane whose probe it gave up: %s brings its records back',
    async (how) => {
      const { clock, sender, delivery, log } = setUp({ store: new MemoryStore() })
      sender.answer = () => answers.refused
      for (let number = 0; number < 5; number++) log(`log ${number}`)
      await clock.advance(2000)
      sender.latencyMs = 10_000
      while (delivery.stats().inFlight === 0) await clock.advance(100)
      delivery.park()
      sender.latencyMs = 1
      sender.answer = () => answers.delivered
      if (how === 'a flush') void delivery.flush({ timeoutMs: 100 })
      else log('log 5')
      await clock.advance(60_000)
      expect(delivery.stats()).toMatchObject({ delivered: how === 'a flush' ? 5 : 6, spooled: 0, queued: 0 })
      expect(clock.timers).toBe(0)
    },
  )

  it('keeps a record in memory for which the store has no place', async () => {
    const store = new MemoryStore()
    const { delivery, log } = setUp({ store })
    store.broken = true
    log('one')
    expect(delivery.park()).toMatchObject({ spooled: 0, queued: 1 })
    store.broken = false
    expect(delivery.park()).toMatchObject({ spooled: 1, queued: 0 })
  })
})
