import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addsUp } from '../support/delivery.js'
import { setUpLoneSpool } from '../support/lone-spool.js'
import { answers } from '../support/scripted-sender.js'
import { leaveRecords, linesIn, segmentsIn, setUpSpool, spoolFolder } from '../support/spool.js'

const down = () => answers.refused
const up = () => answers.delivered
const texts = (count: number, word = 'record') =>
  Array.from({ length: count }, (_, number) => `{"message":"${word} ${number}"}`)
const bodiesIn = (dir: string) => linesIn(dir).map(({ body }) => body)
const small = { limits: { maxQueueRecords: 20, maxQueueBytes: 1_000_000 } }

describe('a delivery with a spool', () => {
  it('has every record on disk with its key before it is sent, and no file when all are delivered', async () => {
    const dir = spoolFolder()
    const { clock, sender, delivery, log, value, end } = setUpSpool(dir)
    const keys = new Map<string, string>()
    sender.before = (sent) => {
      for (const { body, idempotencyKey } of linesIn(dir)) keys.set(body, idempotencyKey)
      expect(sent.filter((body) => !keys.has(body))).toEqual([])
    }
    for (const body of texts(50)) log(body)
    for (const body of texts(50, 'value')) value(body)
    await clock.advance(2000)
    expect(delivery.stats()).toMatchObject({ delivered: 100 })
    expect(sender.sent.map((body) => keys.get(body))).toEqual(sender.keys)
    await end()
    expect(segmentsIn(dir)).toEqual([])
  })

  it.each([
    ['the service is down', answers.refused],
    ['its lane may not send', answers.wrongKey],
  ])('has records on disk at the end of the turn in which they came, also while %s', async (_, answer) => {
    const dir = spoolFolder()
    const { clock, sender, log } = setUpSpool(dir)
    sender.answer = () => answer
    log('{"message":"first"}')
    await clock.advance(10)
    log('{"message":"second"}')
    await clock.advance(0)
    expect(bodiesIn(dir)).toEqual(['{"message":"first"}', '{"message":"second"}'])
  })

  it('keeps on disk what memory has no room for, and sends it in its order after the outage', async () => {
    const dir = spoolFolder()
    const { clock, sender, delivery, log } = setUpSpool(dir, {
      delivery: { limits: { maxQueueRecords: 1000, maxQueueBytes: 3000 } },
    })
    sender.answer = down
    const bodies = texts(400)
    for (const body of bodies) {
      log(body)
      if (body.endsWith('0"}')) await clock.advance(1)
    }
    expect(delivery.stats().spooled).toBeGreaterThan(200)
    expect(addsUp(delivery.stats())).toBe(true)
    sender.sent.length = 0
    sender.keys.length = 0
    sender.answer = up
    await clock.advance(120_000)
    expect(delivery.stats()).toMatchObject({ delivered: 400, spooled: 0, queued: 0, heldBytes: 0 })
    // The probe may be the newest record.
    const sent = sender.sent.slice(1)
    expect(sent).toEqual(bodies.filter((body) => sent.includes(body)))
    expect(new Set(sender.keys).size).toBe(sender.keys.length)
  })

  it('lets a paused lane wait on disk, so that the other lane has room in memory', async () => {
    const { clock, sender, delivery, log, value } = setUpSpool(spoolFolder(), { delivery: small })
    sender.answer = (body) => (body.includes('value') ? answers.noBucket : answers.delivered)
    for (const body of texts(300, 'value')) value(body)
    await clock.advance(10)
    for (const body of texts(100, 'line')) log(body, 0)
    await clock.advance(1000)
    const [logs, values] = delivery.stats().lanes
    expect(logs).toMatchObject({ delivered: 100 })
    expect(values).toMatchObject({ state: 'paused', delivered: 0 })
    expect(values!.spooled + values!.queued + values!.inFlight).toBe(300)
    sender.answer = up
    await clock.advance(1_000_000)
    expect(delivery.stats()).toMatchObject({ delivered: 400, spooled: 0 })
  })

  it('gives up the least severe and oldest records when the spool is full, and tells it', async () => {
    const { clock, sender, delivery, told, log } = setUpSpool(spoolFolder(), {
      spool: { maxBytes: 65_536 },
      delivery: { limits: { maxQueueRecords: 10, maxQueueBytes: 1_000_000 } },
    })
    sender.answer = down
    for (const body of texts(100, 'error')) log(body, 4)
    for (const body of texts(1000, 'debug')) log(body, 1)
    await clock.advance(10)
    expect(delivery.stats().dropped['spool-full']).toBeGreaterThan(500)
    expect(addsUp(delivery.stats())).toBe(true)
    expect(told.some((each) => /spool-full/.test(each))).toBe(true)
    sender.answer = up
    await clock.advance(600_000)
    expect(new Set(sender.sent.filter((body) => body.includes('error'))).size).toBe(100)
    expect(sender.sent).toContain('{"message":"debug 999"}')
    expect(sender.sent).not.toContain('{"message":"debug 20"}')
  })

  it('leaves to the next one what it could not deliver, and counts it as spooled', async () => {
    const dir = spoolFolder()
    const { sender, log, end } = setUpSpool(dir)
    sender.answer = down
    for (const body of texts(20)) log(body)
    expect(await end(10)).toMatchObject({ spooled: 20, queued: 0, dropped: { shutdown: 0 } })
    const keys = linesIn(dir).map(({ idempotencyKey }) => idempotencyKey)
    const next = setUpLoneSpool(dir)
    await next.clock.advance(2000)
    const read = next.logs.read('adopted')
    expect(read.map(({ message }) => message)).toEqual(Array.from({ length: 20 }, (_, number) => `record ${number}`))
    expect(read.map(({ key }) => key)).toEqual(keys)
  })

  it('delivers without a disk that fails, and has the records there that are left when it works again by the end', async () => {
    const dir = join(spoolFolder(), 'spool')
    writeFileSync(dir, 'a file where the folder should be')
    const { clock, sender, delivery, said, log, end } = setUpSpool(dir)
    for (const body of texts(10)) log(body)
    await clock.advance(500)
    expect(delivery.stats()).toMatchObject({ delivered: 10 })
    sender.answer = down
    log('{"message":"early"}')
    await clock.advance(10)
    rmSync(dir)
    expect(await end()).toMatchObject({ spooled: 1, queued: 0 })
    expect(bodiesIn(dir)).toEqual(['{"message":"early"}'])
    expect(said).toEqual([
      expect.stringMatching(/cannot be written \((?:ENOTDIR|EEXIST|it is not a folder).*memory alone until it can/),
      expect.stringMatching(/can be written again; 11 records were in memory alone/),
    ])
  })
})

describe('a record that an engine has left', () => {
  it('is sent when there is no new one, a hundred in a tenth of a second, and the ledger adds up meanwhile', async () => {
    const dir = spoolFolder()
    await leaveRecords(dir, 1000)
    const { clock, sender, delivery, log } = setUpSpool(dir, { delivery: { maxConnections: 64 } })
    await clock.advance(999)
    expect(sender.sent).toEqual([])
    while (delivery.stats().delivered < 900) {
      const before = delivery.stats().delivered
      await clock.advance(100)
      expect(delivery.stats().delivered - before).toBeLessThanOrEqual(100)
      expect(addsUp(delivery.stats())).toBe(true)
      expect(clock.now()).toBeLessThan(5000)
    }
    // A lane with new records gets no old ones.
    sender.answer = () => answers.wrongKey
    log('{"message":"new"}')
    await clock.advance(10)
    const { spooled } = delivery.stats()
    await clock.advance(5000)
    expect(delivery.stats()).toMatchObject({ spooled, accepted: 1001, adopted: 1000 })
  })

  it('is sent before those that are less severe', async () => {
    const dir = spoolFolder()
    for (const severity of [1, 4, 2] as const) await leaveRecords(dir, 1, { severity })
    const { clock, sender } = setUpSpool(dir)
    const severityOf = new Map(linesIn(dir).map(({ idempotencyKey, severity }) => [idempotencyKey, severity]))
    await clock.advance(3000)
    expect(sender.keys.map((key) => severityOf.get(key))).toEqual([4, 2, 1])
  })

  it('is delivered once, however many engines start at once', async () => {
    const dir = spoolFolder()
    await leaveRecords(dir, 100)
    const engines = Array.from({ length: 5 }, () => setUpSpool(dir))
    await Promise.all(engines.map(({ clock }) => clock.advance(6000)))
    expect(engines.flatMap(({ sender }) => sender.sent).sort()).toEqual(texts(100, 'left').sort())
  })

  it('stays with its acknowledgements when the engine that has taken it ends as well', async () => {
    const dir = spoolFolder()
    await leaveRecords(dir, 300)
    const second = setUpSpool(dir)
    while (second.sender.sent.length < 100) await second.clock.advance(100)
    await second.end()
    const third = setUpSpool(dir)
    await third.clock.advance(10_000)
    const sent = [...second.sender.sent, ...third.sender.sent]
    expect([...new Set(sent)].sort()).toEqual(texts(300, 'left').sort())
    // Records that were in flight at the end are sent again, with the same keys.
    expect(sent.length - 300).toBeLessThanOrEqual(second.sender.maxInFlight)
  })
})
