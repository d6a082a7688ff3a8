import { describe, expect, it } from 'vitest'
import type { DeliveryPlan } from '../../src/delivery/plan.js'
import type { Outcome, OutgoingBatch, Sender } from '../../src/delivery/sender.js'
import type { Backing } from '../../src/log/backing.js'
import { MemorySpool } from '../log/memory-spool.js'
import { recordsOf } from '../support/batch.js'
import { addsUp, setUp as setUpDelivery } from '../support/delivery.js'
import { silentObserver } from '../support/observer.js'
import { answers, ScriptedSender } from '../support/scripted-sender.js'
import { VirtualClock } from '../support/virtual-clock.js'

function setUp(changes: Partial<DeliveryPlan> = {}, { maxDepth = 1 } = {}) {
  const clock = new VirtualClock()
  const sender = new ScriptedSender(clock, { maxDepth })
  const { delivery, log } = setUpDelivery({ lanes: [{ kind: 'logs', bucket: 'b' }], sender, ...changes }, clock)
  return { clock, sender, delivery, log }
}

/** Answers at once, within `send`. */
class InstantSender implements Sender {
  readonly sent: string[] = []

  carriage() {
    return { sender: 'pipelined', maxDepth: 1 } as const
  }

  send(batch: OutgoingBatch): void {
    this.sent.push(...recordsOf(batch).map(({ body }) => body))
    batch.settle(0, answers.delivered, batch.length)
    batch.done()
  }

  async close(): Promise<void> {}
}

describe('a process that ends inside a listener', () => {
  it('delivers the rest all the same', async () => {
    const last = new InstantSender()
    const loop = Object.assign(new VirtualClock(), { turn() {} })
    let isOver = false
    const { clock, sender, delivery, log } = setUp({
      maxConnections: 1,
      observer: {
        ...silentObserver,
        rejected: () => {
          isOver = delivery.drainSync(loop, last, { timeoutMs: 1000 })(0)
        },
      },
    })
    sender.answer = () => answers.rejected
    log('bad')
    log('good')
    await clock.advance(10)
    expect(isOver).toBe(true)
    expect(last.sent).toEqual(['good'])
    expect(delivery.stats()).toMatchObject({ delivered: 1, rejected: 1, inFlight: 0 })
  })
})

describe('a drain', () => {
  it('ends when its last records are shed', async () => {
    const { clock, sender, delivery, log } = setUp({
      maxConnections: 1,
      limits: { maxQueueRecords: 2, maxQueueBytes: 1000 },
    })
    sender.answer = () => answers.failed
    log('old')
    log('older')
    await clock.advance(5)
    expect(delivery.stats().lanes[0]!.state).toBe('outage')
    sender.latencyMs = 100_000
    let isOver = false
    void delivery.flush({ timeoutMs: 60_000 }).then(() => {
      isOver = true
    })
    await clock.advance(0)
    delivery.park()
    for (let each = 0; each < 4; each++) log('new')
    await clock.advance(0)
    expect(isOver).toBe(true)
  })
})

describe('a drain of a lane that is paused', () => {
  it('is over at once where the service asks to wait beyond its deadline', async () => {
    const { clock, sender, delivery, log } = setUp()
    sender.answer = () => answers.wrongKey
    log('record')
    await clock.advance(1000)
    sender.answer = () => ({ ...answers.busy, retryAfterMs: 200_000 })
    await clock.advance(40_000)
    expect(delivery.stats().lanes[0]!.state).toBe('paused')
    let isOver = false
    void delivery.flush({ timeoutMs: 5000 }).then(() => {
      isOver = true
    })
    await clock.advance(100)
    expect(isOver).toBe(true)
  })
})

describe('a suspect that was parked in flight', () => {
  it('goes out alone afterwards, and holds no other record back', async () => {
    const { clock, sender, delivery, log } = setUp({ maxConnections: 2 }, { maxDepth: 8 })
    sender.answer = (body): Outcome => (body === 'poison' ? answers.failed : answers.delivered)
    for (let each = 0; each < 40; each++) log(`first ${each}`)
    await clock.advance(100)
    log('poison')
    for (let each = 0; each < 3; each++) log(`second ${each}`)
    for (let turn = 0; turn < 400; turn++) {
      await clock.advance(1)
      if (sender.inFlight > 0 && sender.sent.at(-1) === 'poison') break
    }
    delivery.park()
    sender.answer = () => answers.failed
    for (let each = 0; each < 5; each++) log(`third ${each}`)
    await clock.advance(50)
    sender.answer = () => answers.delivered
    await clock.advance(120_000)
    expect(delivery.stats()).toMatchObject({ delivered: 49, queued: 0, inFlight: 0 })
  })
})

describe('records whose lines on disk are damaged', () => {
  it.each(['open', 'shut'])('are lost, and the others go on, where the gate is %s', async (gate) => {
    const spool = new MemorySpool()
    const backing: Backing = spool
    const { clock, sender, delivery, log } = setUp({ backing })
    if (gate === 'shut') sender.answer = () => answers.refused
    sender.latencyMs = 5
    log('damaged')
    await clock.advance(gate === 'shut' ? 6 : 1)
    delivery.park()
    for (const lines of spool.files.values()) lines.clear()
    sender.answer = () => answers.delivered
    log('good')
    await clock.advance(60_000)
    const ledger = delivery.stats()
    expect(ledger).toMatchObject({ delivered: 1, queued: 0, inFlight: 0, spooled: 0 })
    expect(ledger.dropped).toMatchObject({ 'spool-full': 1 })
    expect(addsUp(ledger)).toBe(true)
  })
})

/** A service that takes no answer back from one record, and is out of reach until it is not. */
class HangingSender extends InstantSender {
  isUp = false

  override send(batch: OutgoingBatch): void {
    const bodies = recordsOf(batch).map(({ body }) => body)
    this.sent.push(...bodies)
    if (this.isUp && bodies.includes('hangs')) return
    batch.settle(0, this.isUp ? answers.delivered : answers.refused, batch.length)
    batch.done()
  }
}

describe('the last drain of a lane in an outage', () => {
  it('tries another record beside one that gets no answer for half a second', async () => {
    const sender = new HangingSender()
    const { clock, delivery, log } = setUp({ sender })
    log('hangs')
    await clock.advance(100)
    expect(delivery.stats().lanes[0]!.state).toBe('outage')
    sender.sent.length = 0
    sender.isUp = true
    log('a')
    log('b')
    const closed = delivery.close({ timeoutMs: 5000 })
    await clock.advance(499)
    expect(sender.sent).toEqual(['hangs'])
    await clock.advance(1)
    expect(delivery.stats()).toMatchObject({ delivered: 2, inFlight: 1 })
    await clock.advance(4500)
    expect(await closed).toMatchObject({ delivered: 2, dropped: { shutdown: 1 } })
  })

  it('goes on with probes to its end, however long the backoff has become', async () => {
    const { clock, delivery, log, sender } = setUp({ random: () => 0.99 })
    sender.answer = () => answers.refused
    log('a')
    await clock.advance(60_000)
    let isClosed = false
    void delivery.close({ timeoutMs: 1500 }).then(() => {
      isClosed = true
    })
    const before = delivery.stats().requests
    await clock.advance(1479)
    expect(isClosed).toBe(false)
    expect(delivery.stats().requests - before).toBeGreaterThanOrEqual(3)
    expect(delivery.stats().requests - before).toBeLessThanOrEqual(10)
    await clock.advance(21)
    expect(isClosed).toBe(true)
  })

  it('ends when its next probe would come after the deadline', async () => {
    const sender = new HangingSender()
    const { clock, delivery, log } = setUp({ sender, retry: { baseMs: 60_000, capMs: 60_000 } })
    log('a')
    await clock.advance(1000)
    let isClosed = false
    void delivery.close({ timeoutMs: 5000 }).then(() => {
      isClosed = true
    })
    await clock.advance(10)
    expect(isClosed).toBe(true)
    expect(delivery.stats()).toMatchObject({ dropped: { shutdown: 1 } })
  })
})

describe('the answer to a batch', () => {
  it('is taken for records of several logs at once, each of which is delivered', async () => {
    const sent: string[][] = []
    const { clock, delivery } = setUp({
      maxConnections: 1,
      sender: {
        carriage: () => ({ sender: 'pipelined', maxDepth: 8 }),
        send: (batch) => {
          sent.push(recordsOf(batch).map(({ body }) => body))
          clock.schedule(() => {
            batch.settle(0, answers.delivered, batch.length)
            batch.done()
          }, 1)
        },
        close: async () => {},
      },
    })
    for (let number = 0; number < 60; number++) {
      delivery.accept(0, { body: `record ${number}`, severity: number % 5 === 0 ? 4 : 2 })
    }
    await clock.advance(1000)
    expect(sent.some((bodies) => bodies.length > 2)).toBe(true)
    expect(sent.flat()).toEqual(Array.from({ length: 60 }, (_, number) => `record ${number}`))
    expect(delivery.stats()).toMatchObject({ delivered: 60, queued: 0, inFlight: 0, requests: 60 })
  })

  it('gives the spool the record that is refused, with its key', async () => {
    const letters: unknown[] = []
    const spool = new MemorySpool()
    spool.rejected = (lane, { ref, body, key, rejection }) =>
      letters.push([lane, ref.segment.sequenceOf(ref.index), body, key, rejection.status])
    const { clock, sender, delivery, log } = setUp({ backing: spool })
    sender.answer = (body) => (body === 'bad' ? answers.rejected : answers.delivered)
    for (const body of ['good', 'bad']) log(body)
    await clock.advance(10)
    expect(letters).toEqual([[0, 1, 'bad', 'test-1', 400]])
    expect(delivery.stats()).toMatchObject({ delivered: 1, rejected: 1 })
  })
})

describe('a lane whose records have all failed', () => {
  it('tests the service with them and with its suspects in turn', async () => {
    const { clock, sender, delivery, log } = setUp({ maxConnections: 2 })
    let isDown = false
    sender.answer = (body) => {
      if (isDown) return answers.reset
      return body === 'suspect' ? answers.failed : answers.delivered
    }
    for (const body of ['good', 'suspect', 'good']) log(body)
    await clock.advance(20)
    isDown = true
    log('other')
    await clock.advance(10)
    expect(delivery.stats().lanes[0]).toMatchObject({ state: 'outage', queued: 2 })
    sender.sent.length = 0
    await clock.advance(300_000)
    expect(new Set(sender.sent)).toEqual(new Set(['other', 'suspect']))
    isDown = false
    await clock.advance(120_000)
    expect(delivery.stats()).toMatchObject({ delivered: 3, queued: 1 })
  })
})

describe('a sender that throws', () => {
  it('throws nothing into the application, and its records are sent again', async () => {
    const { clock, sender, delivery, log } = setUp()
    const send = sender.send.bind(sender)
    sender.send = () => {
      sender.send = send
      throw new Error('a fault')
    }
    for (let number = 0; number < 3; number++) log(`${number}`)
    await clock.advance(60_000)
    expect(delivery.stats()).toMatchObject({ accepted: 3, delivered: 3, queued: 0 })
  })
})
