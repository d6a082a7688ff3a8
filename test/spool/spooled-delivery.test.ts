import { describe, expect, it } from 'vitest'
import { Delivery } from '../../src/delivery/delivery.js'
import type { Sender } from '../../src/delivery/sender.js'
import { KeyWriter } from '../../src/log/idempotency-key.js'
import { Spool } from '../../src/spool/spool.js'
import { recordsOf } from '../support/batch.js'
import { addsUp } from '../support/delivery.js'
import { lanes } from '../support/logs.js'
import { setUpSpool } from '../support/lone-spool.js'
import { loopOver } from '../support/loop.js'
import { answers, ScriptedSender } from '../support/scripted-sender.js'
import { linesIn, segmentsIn, spoolFolder } from '../support/spool.js'
import { VirtualClock } from '../support/virtual-clock.js'

/** A delivery with a spool in virtual time, over a scripted sender. */
function setUp(dir: string, { maxQueueBytes = 1_000_000 } = {}) {
  const clock = new VirtualClock()
  const scripted = new ScriptedSender(clock)
  const keys: string[] = []
  let before = (_bodies: readonly string[]) => {}
  const sender: Sender = {
    carriage: () => scripted.carriage(),
    send(batch) {
      const records = recordsOf(batch)
      before(records.map(({ body }) => body))
      keys.push(...records.map(({ idempotencyKey }) => idempotencyKey))
      scripted.send(batch)
    },
    close: () => scripted.close(),
  }
  const keyPrefix = 'delivery'
  const spool = new Spool({
    dir,
    url: 'http://127.0.0.1:1/',
    lanes,
    keys: new KeyWriter(keyPrefix),
    maxBytes: 4_194_304,
    maxAgeMs: 3_600_000_000,
    sync: false,
    clock,
    wallClock: () => 1_700_000_000_000 + clock.now(),
    random: () => 0.5,
    report: () => {},
  })
  const delivery = new Delivery({
    lanes,
    sender,
    backing: spool,
    loop: loopOver(clock),
    random: () => 0.5,
    observer: { dropped() {}, rejected() {}, paused() {}, outage() {}, resumed() {}, recovered() {} },
    limits: { maxQueueRecords: 1000, maxQueueBytes },
    maxConnections: 4,
    maxBatch: 8,
    requestTimeoutMs: 10_000,
    retry: { baseMs: 500, capMs: 30_000 },
    probe: { baseMs: 30_000, capMs: 300_000 },
    keyPrefix,
  })
  const log = (message: string) => delivery.accept(0, { body: JSON.stringify({ message }), severity: 2 })
  const whenSent = (task: typeof before) => {
    before = task
  }
  return { clock, scripted, keys, spool, delivery, log, whenSent }
}

const bodiesIn = (dir: string) => linesIn(dir).map(({ body }) => body)

describe('a delivery with a spool', () => {
  it('has every record on disk before it is sent, and no file afterwards', async () => {
    const dir = spoolFolder()
    const { clock, delivery, spool, log, whenSent } = setUp(dir)
    whenSent((bodies) => expect(bodiesIn(dir)).toEqual(expect.arrayContaining([...bodies])))
    for (let number = 0; number < 50; number++) log(`record ${number}`)
    await clock.advance(2000)
    expect(delivery.stats()).toMatchObject({ delivered: 50 })
    spool.close()
    expect(segmentsIn(dir)).toEqual([])
  })

  it('has records on disk at the end of the turn in which they came, also while nothing is sent', async () => {
    const dir = spoolFolder()
    const { clock, scripted, log } = setUp(dir)
    scripted.answer = () => answers.refused
    log('first')
    await clock.advance(1)
    log('second')
    await clock.advance(0)
    expect(bodiesIn(dir)).toHaveLength(2)
  })

  it('keeps on disk what memory has no room for, and sends it in its order after the outage', async () => {
    const dir = spoolFolder()
    const { clock, scripted, keys, delivery, log } = setUp(dir, { maxQueueBytes: 3000 })
    scripted.answer = () => answers.refused
    const messages = Array.from({ length: 400 }, (_, number) => `record ${number}`)
    for (const message of messages) {
      log(message)
      if (message.endsWith('0')) await clock.advance(1)
    }
    expect(delivery.stats().spooled).toBeGreaterThan(200)
    expect(addsUp(delivery.stats())).toBe(true)
    scripted.sent.length = 0
    keys.length = 0
    scripted.answer = () => answers.delivered
    await clock.advance(120_000)
    expect(delivery.stats()).toMatchObject({ delivered: 400, spooled: 0, queued: 0 })
    // The probe may be the newest record.
    const sent = scripted.sent.map((body) => JSON.parse(body).message).slice(1)
    expect(sent).toEqual(messages.filter((message) => sent.includes(message)))
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('leaves to the next one what it could not deliver', async () => {
    const dir = spoolFolder()
    const { clock, scripted, delivery, spool, log } = setUp(dir)
    scripted.answer = () => answers.refused
    for (let number = 0; number < 20; number++) log(`record ${number}`)
    const closed = delivery.close({ timeoutMs: 10 })
    await clock.advance(20)
    expect(await closed).toMatchObject({ spooled: 20, dropped: { shutdown: 0 } })
    spool.close()
    const next = setUpSpool(dir)
    await next.clock.advance(2000)
    const read = next.logs.read('adopted')
    expect(read.map(({ message }) => message)).toEqual(Array.from({ length: 20 }, (_, number) => `record ${number}`))
    expect(read[0]!.key).toBe('delivery-0')
  })
})
