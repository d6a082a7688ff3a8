import { describe, expect, it } from 'vitest'
import type { Sender } from '../../src/delivery/sender.js'
import { addsUp, setUp } from '../support/delivery.js'
import { answers } from '../support/scripted-sender.js'

const asking = (retryAfterMs: number) => ({ ...answers.busy, retryAfterMs })

/** The moment at which a promise resolves; undefined before. */
function momentOf(promise: Promise<unknown>, now: () => number) {
  const moment: { at: number | undefined } = { at: undefined }
  void promise.then(() => {
    moment.at = now()
  })
  return moment
}

describe('a drain', () => {
  it('keeps the process alive until it ends, and no longer', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.latencyMs = 50
    log('one')
    await clock.advance(1)
    expect(clock.holding).toBe(0)
    void delivery.flush({ timeoutMs: 5000 })
    expect(clock.holding).toBe(1)
    await clock.advance(50)
    expect(clock.holding).toBe(0)
  })

  it('waits for a Retry-After that ends before its deadline, and for none that ends later', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = () => asking(2000)
    for (const body of ['one', 'two']) log(body)
    await clock.advance(10)
    sender.answer = () => answers.delivered
    const [short, long] = [1000, 4000].map((timeoutMs) => momentOf(delivery.flush({ timeoutMs }), () => clock.now()))
    await clock.advance(1)
    expect(short?.at).toBeLessThan(12)
    await clock.advance(1000)
    expect(long?.at).toBeUndefined()
    await clock.advance(1100)
    expect(long?.at).toBeGreaterThan(2000)
    expect(delivery.stats()).toMatchObject({ delivered: 2 })
  })

  it('ends at once when nothing is pending, also beside one that waits', async () => {
    const { clock, sender, delivery, log } = setUp()
    expect(await delivery.flush({ timeoutMs: 5000 })).toMatchObject({ accepted: 0 })
    sender.latencyMs = 100
    log('one')
    await clock.advance(1)
    const first = momentOf(delivery.flush({ timeoutMs: 5000 }), () => clock.now())
    const second = momentOf(delivery.flush({ timeoutMs: 50 }), () => clock.now())
    await clock.advance(60)
    expect([first.at, second.at]).toEqual([undefined, 51])
    await clock.advance(60)
    expect(first.at).toBe(100)
    expect(clock.timers).toBe(0)
  })
})

describe('the close of a delivery', () => {
  it('shows every lane as closed, and leaves no timer', async () => {
    const { clock, sender, delivery, log, value } = setUp()
    sender.answer = () => answers.refused
    log('log')
    value('value')
    await clock.advance(3000)
    const closed = delivery.close({ timeoutMs: 100 })
    await clock.advance(100)
    expect((await closed).lanes.map(({ state }) => state)).toEqual(['closed', 'closed'])
    expect(clock.timers).toBe(0)
  })

  it('keeps the process alive until the earlier of two deadlines', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.latencyMs = 1e9
    log('one')
    const closed = momentOf(delivery.close({ timeoutMs: 5000 }), () => clock.now())
    void delivery.close({ timeoutMs: 300 })
    expect(clock.holding).toBe(2)
    await clock.advance(299)
    expect(closed.at).toBeUndefined()
    await clock.advance(1)
    expect(closed.at).toBe(300)
    expect(clock.holding).toBe(0)
  })

  it('cancels the look at a request that waits long, also where the records are left to the store', async () => {
    const { clock, sender, delivery, log } = setUp({ maxConnections: 1 })
    sender.latencyMs = 1e9
    for (const body of ['in flight', 'waits']) log(body)
    await clock.advance(1)
    expect(clock.timers).toBe(2)
    delivery.leave()
    // The answer of the sender, which never comes.
    expect(clock.timers).toBe(1)
  })
})

describe('a call outside the queue', () => {
  it('of track with a bad number is counted beside the equation', () => {
    const { delivery } = setUp()
    delivery.invalid()
    delivery.invalid()
    expect(delivery.stats()).toMatchObject({ invalid: 2, accepted: 0 })
  })

  it('after the close of its owner is accepted, and dropped as `closed`', () => {
    const { delivery, told } = setUp()
    delivery.refuse(1, 'closed')
    expect(delivery.stats()).toMatchObject({ accepted: 1, queued: 0, heldBytes: 0 })
    expect(delivery.stats().lanes[1]!.dropped.closed).toBe(1)
    expect(told).toEqual(['values dropped 1 closed'])
    expect(addsUp(delivery.stats())).toBe(true)
  })
})

describe('a record that could not be sent while others were delivered', () => {
  it('is shed from its wait when memory is full, and is not sent later', async () => {
    const set = setUp({ limits: { maxQueueRecords: 20, maxQueueBytes: 10_000 } })
    const { clock, sender, delivery, log } = set
    for (let number = 0; number < 20; number++) log(`warm ${number}`)
    await clock.advance(100)
    const send: Sender['send'] = sender.send.bind(sender)
    sender.send = (batch) => {
      if (batch.textOf(0).body !== 'odd') return send(batch)
      clock.schedule(() => {
        batch.settle(0, answers.refused)
        batch.done()
      }, 10)
    }
    log('odd', 0)
    for (let step = 0; step < 12; step++) {
      log(`beside ${step}`, 4)
      await clock.advance(1)
    }
    expect(delivery.stats()).toMatchObject({ queued: 1, delivered: 32 })
    sender.latencyMs = 1e9
    sender.sent.length = 0
    for (let number = 0; number < 21; number++) log(`later ${number}`, 4)
    expect(delivery.stats().dropped['queue-full']).toBe(2)
    await clock.advance(5000)
    expect(sender.sent).not.toContain('odd')
    expect(addsUp(delivery.stats())).toBe(true)
  })
})

describe('a brief drain where nothing listens', () => {
  const refused = { ...answers.refused, refused: true }

  it('ends 300 ms after the first brief one began, and then at the next refusal; one with a time of its own has it', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = () => refused
    log('one')
    await clock.advance(10)
    const drain = (brief: boolean) => momentOf(delivery.flush({ timeoutMs: 2000, brief }), () => clock.now())
    const first = drain(true)
    const patient = drain(false)
    await clock.advance(250)
    const second = drain(true)
    await clock.advance(50)
    expect([first.at, second.at]).toEqual([310, 310])
    sender.latencyMs = 20
    const third = drain(true)
    await clock.advance(20)
    expect(third.at).toBe(330)
    await clock.advance(3000)
    expect(patient.at).toBe(2010)
    expect(clock.holding).toBe(0)
  })

  it('waits on where no attempt of its own has been refused yet: the service may have come', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = () => refused
    log('one')
    await clock.advance(10)
    void delivery.flush({ timeoutMs: 2000, brief: true })
    await clock.advance(290)
    sender.latencyMs = 150
    sender.answer = () => answers.delivered
    void delivery.flush({ timeoutMs: 2000, brief: true })
    await clock.advance(10)
    const last = momentOf(delivery.flush({ timeoutMs: 2000, brief: true }), () => clock.now())
    await clock.advance(100)
    expect(last.at).toBeUndefined()
    await clock.advance(100)
    expect(last.at).toBeLessThan(500)
    expect(delivery.stats()).toMatchObject({ delivered: 1 })
  })
})
