import { describe, expect, it } from 'vitest'
import type { DeliveryPlan } from '../../src/delivery/plan.js'
import type { Outgoing } from '../../src/delivery/sender.js'
import { recordsOf } from '../support/batch.js'
import { addsUp, setUp } from '../support/delivery.js'
import { answers, ScriptedSender } from '../support/scripted-sender.js'
import { setUpSpool, spoolFolder } from '../support/spool.js'
import { VirtualClock } from '../support/virtual-clock.js'

/** A delivery that takes records with keys of their own, and notes the key of every attempt. */
function setUpKeys(changes: Partial<DeliveryPlan> = {}) {
  const clock = new VirtualClock()
  const sender = new ScriptedSender(clock)
  const keys: string[] = []
  const note = ({ idempotencyKey }: Outgoing) => keys.push(idempotencyKey)
  const noted: DeliveryPlan['sender'] = {
    carriage: () => sender.carriage(),
    send: (batch) => {
      recordsOf(batch).forEach(note)
      sender.send(batch)
    },
    close: () => sender.close(),
  }
  const set = setUp({ sender: noted, ...changes }, clock)
  const keyed = (body: string, idempotencyKey: string) => set.delivery.accept(1, { body, severity: 6, idempotencyKey })
  return { ...set, sender, keys, keyed }
}

describe('a record with a key of its own', () => {
  it('is sent between its neighbours, with its key in every attempt', async () => {
    const { clock, sender, delivery, keys, value, keyed } = setUpKeys({ maxConnections: 1 })
    value('before')
    keyed('mine', 'event-7-mine')
    value('behind')
    await clock.advance(10)
    expect(sender.sent).toEqual(['before', 'mine', 'behind'])
    expect(keys).toEqual(['test-0', 'event-7-mine', 'test-2'])

    sender.answer = () => answers.reset
    keyed('again', 'event-7-again')
    await clock.advance(10)
    sender.answer = () => answers.delivered
    await clock.advance(60_000)
    expect(keys.slice(3).length).toBeGreaterThan(1)
    expect(new Set(keys.slice(3))).toEqual(new Set(['event-7-again']))
    expect(delivery.stats()).toMatchObject({ accepted: 4, delivered: 4 })
  })

  it('is no retry when it goes out for the first time', async () => {
    const { clock, delivery, keyed } = setUpKeys()
    keyed('mine', 'k')
    await clock.advance(10)
    expect(delivery.stats()).toMatchObject({ delivered: 1, retries: 0 })
  })

  it('is refused after the close, like any other', async () => {
    const { clock, delivery, keyed } = setUpKeys()
    const closed = delivery.close({ timeoutMs: 10 })
    keyed('late', 'k')
    await clock.advance(10)
    await closed
    expect(delivery.stats()).toMatchObject({ accepted: 1, dropped: { closed: 1 } })
  })

  it('takes the bytes of its body and of its key while it is in memory', () => {
    const { sender, delivery, keyed } = setUpKeys({ limits: { maxQueueRecords: 10, maxQueueBytes: 100 } })
    sender.answer = () => answers.refused
    keyed('x'.repeat(20), 'k'.repeat(30))
    expect([delivery.hasRoom(50), delivery.hasRoom(51)]).toEqual([true, false])
  })

  it('is shed for a record that is as severe, and both add up', async () => {
    const { clock, sender, delivery, told, keyed } = setUpKeys({ limits: { maxQueueRecords: 10, maxQueueBytes: 100 } })
    sender.answer = () => answers.refused
    keyed('first', 'k'.repeat(60))
    await clock.advance(10)
    keyed('second', 'k'.repeat(60))
    await clock.advance(10)
    expect(told).toContain('values dropped 1 queue-full')
    expect(delivery.stats()).toMatchObject({ accepted: 2, queued: 1, dropped: { 'queue-full': 1 } })
    expect(addsUp(delivery.stats())).toBe(true)
    sender.answer = () => answers.delivered
    await clock.advance(60_000)
    expect(sender.sent.at(-1)).toBe('second')
  })

  it.each([
    ['delivered', answers.delivered],
    ['rejected', answers.rejected],
  ])('gives all of its bytes back when it is %s', async (_, answer) => {
    const { clock, sender, delivery, value, keyed } = setUpKeys({
      limits: { maxQueueRecords: 10, maxQueueBytes: 100 },
    })
    sender.answer = () => answers.refused
    keyed('mine', 'event-1-k')
    await clock.advance(100)
    sender.answer = () => answer
    keyed('another', 'event-1-l')
    await clock.advance(600_000)
    expect(delivery.stats()).toMatchObject({ queued: 0, inFlight: 0 })
    sender.answer = () => answers.refused
    value('x')
    expect([delivery.hasRoom(99), delivery.hasRoom(100)]).toEqual([true, false])
  })

  it('comes back from disk with its key, and gives all of its bytes back then, too', async () => {
    const { clock, sender, delivery, value } = setUpSpool(spoolFolder(), {
      delivery: { limits: { maxQueueRecords: 10, maxQueueBytes: 100 } },
    })
    sender.answer = () => answers.refused
    for (const body of ['"mine"', '"another"']) {
      delivery.accept(1, { body, severity: 6, idempotencyKey: `event-1-${body.length}` })
    }
    expect(delivery.park()).toMatchObject({ spooled: 2, queued: 0, heldBytes: 0 })
    sender.answer = () => answers.delivered
    const flushed = delivery.flush({ timeoutMs: 1000 })
    await clock.advance(1000)
    expect(await flushed).toMatchObject({ delivered: 2, spooled: 0 })
    expect(sender.sent).toEqual(['"mine"', '"another"'])
    expect(sender.keys).toEqual(['event-1-6', 'event-1-9'])
    sender.answer = () => answers.refused
    value('"x"')
    expect([delivery.hasRoom(97), delivery.hasRoom(98)]).toEqual([true, false])
  })
})
