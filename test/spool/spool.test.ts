import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { addsUp } from '../support/delivery.js'
import { full } from '../support/full.js'
import { answers } from '../support/scripted-sender.js'
import { filesIn, leaveRecords, linesIn, pass, passUntil, setUpSpool, spoolFolder } from '../support/spool.js'
import { settle } from '../support/virtual-clock.js'

const down = () => answers.refused
const up = () => answers.delivered
const bodies = (count: number, word = 'record') =>
  Array.from({ length: count }, (_, index) => `{"message":"${word} ${index}"}`)
const withoutLocks = (dir: string) => filesIn(dir).filter((path) => !/lock-\d+$/.test(path))

describe('a spool', () => {
  it('has every record on disk before it is sent, with its key', async () => {
    const dir = spoolFolder()
    const { clock, sender, log, value } = setUpSpool(dir)
    const missing: string[] = []
    sender.before = (sent) => {
      const written = linesIn(dir).map(({ body }) => body)
      missing.push(...sent.filter((body) => !written.includes(body)))
    }
    for (const body of bodies(50)) log(body)
    for (const body of bodies(50, 'value')) value(body)
    await clock.advance(50)
    expect(sender.sent).toHaveLength(100)
    expect(missing).toEqual([])
    const keys = new Map(linesIn(dir).map(({ body, idempotencyKey }) => [body, idempotencyKey]))
    expect(sender.sent.map((body) => keys.get(body))).toEqual(sender.keys)
  })

  it('has every record on disk when it waits for the disk after each write', async () => {
    const dir = spoolFolder()
    const { clock, sender, said, log } = setUpSpool(dir, { spool: { sync: true } })
    sender.answer = down
    for (const body of bodies(20)) log(body)
    await clock.advance(1)
    expect(linesIn(dir).map(({ body }) => body)).toEqual(bodies(20))
    expect(said).toEqual([])
  })

  it('writes a record to disk while its lane may not send', async () => {
    const dir = spoolFolder()
    const { clock, sender, log } = setUpSpool(dir)
    sender.answer = () => answers.wrongKey
    log('{"message":"first"}')
    await clock.advance(10)
    log('{"message":"second"}')
    await settle()
    expect(linesIn(dir).map(({ body }) => body)).toEqual(['{"message":"first"}', '{"message":"second"}'])
  })

  it('keeps no delivered record', async () => {
    const dir = spoolFolder()
    const { clock, delivery, log } = setUpSpool(dir)
    for (const body of bodies(20)) log(body)
    await clock.advance(1000)
    expect(withoutLocks(dir)).toEqual([])
    await delivery.close({ timeoutMs: 1000 })
    expect(readdirSync(dir)).toEqual([])
  })

  it.runIf(isMainThread)('can be read only by its owner, whatever the umask', async () => {
    const dir = join(spoolFolder(), 'made', 'here')
    const before = process.umask(0)
    try {
      const { clock, sender, log } = setUpSpool(dir)
      sender.answer = (body) => (body.includes('record 1') ? answers.rejected : answers.refused)
      for (const body of bodies(3)) log(body)
      await clock.advance(100)
      const modes = (paths: string[]) => paths.map((path) => (statSync(path).mode & 0o777).toString(8))
      const files = filesIn(dir)
      expect(new Set(modes(files))).toEqual(new Set(['600']))
      expect(new Set(modes([dir, ...files.map((path) => dirname(path))]))).toEqual(new Set(['700']))
    } finally {
      process.umask(before)
    }
  })

  it('takes records that memory has no room for, and gives them back by severity and age; the ledger adds up meanwhile', async () => {
    const dir = spoolFolder()
    const { clock, sender, delivery, log, value } = setUpSpool(dir, {
      delivery: { limits: { maxQueueRecords: 20, maxQueueBytes: 1_000_000 } },
    })
    sender.answer = down
    for (const body of bodies(50, 'debug')) log(body, 1)
    for (const body of bodies(50, 'error')) log(body, 4)
    for (const body of bodies(20, 'value')) value(body)
    await clock.advance(10)
    const { queued, inFlight, spooled, accepted } = delivery.stats()
    expect({ accepted, held: queued + inFlight }).toEqual({ accepted: 120, held: expect.any(Number) })
    expect(queued + inFlight).toBeLessThanOrEqual(20)
    expect(spooled).toBe(120 - queued - inFlight)
    sender.answer = up
    const sentBefore = sender.sent.length
    for (let step = 0; step < 400; step++) {
      await clock.advance(100)
      expect(addsUp(delivery.stats())).toBe(true)
    }
    expect(delivery.stats()).toMatchObject({ delivered: 120, spooled: 0, queued: 0, inFlight: 0, heldBytes: 0 })
    const order = sender.sent.slice(sentBefore)
    const firstDebug = order.findIndex((body) => body.includes('debug 30'))
    const lastError = order.findLastIndex((body) => body.includes('error 2'))
    expect(lastError).toBeLessThan(firstDebug)
    expect(withoutLocks(dir)).toEqual([])
  })

  it('lets a paused lane wait on disk, so that the other lane has room in memory', async () => {
    const { clock, sender, delivery, log, value } = setUpSpool(spoolFolder(), {
      delivery: { limits: { maxQueueRecords: 20, maxQueueBytes: 1_000_000 } },
    })
    sender.answer = (body) => (body.includes('value') ? answers.noBucket : answers.delivered)
    for (const body of bodies(300, 'value')) value(body)
    await clock.advance(10)
    for (const body of bodies(100, 'line')) log(body, 0)
    await clock.advance(1000)
    const [logs, values] = delivery.stats().lanes
    expect(logs).toMatchObject({ delivered: 100 })
    expect(values).toMatchObject({ state: 'paused', delivered: 0 })
    expect(values!.spooled + values!.queued + values!.inFlight).toBe(300)
    sender.answer = up
    await clock.advance(1_000_000)
    expect(delivery.stats()).toMatchObject({ delivered: 400, spooled: 0 })
  })

  it('gives up the least severe and oldest records when it is full, and counts them', async () => {
    const { clock, sender, delivery, told, log } = setUpSpool(spoolFolder(), {
      spool: { maxBytes: 65_536 },
      delivery: { limits: { maxQueueRecords: 10, maxQueueBytes: 1_000_000 } },
    })
    sender.answer = down
    for (const body of bodies(100, 'error')) log(body, 4)
    for (const body of bodies(1000, 'debug')) log(body, 1)
    await clock.advance(10)
    const { dropped, spooled, queued, inFlight } = delivery.stats()
    expect(dropped['spool-full']).toBeGreaterThan(500)
    expect(dropped['spool-full'] + spooled + queued + inFlight).toBe(1100)
    expect(addsUp(delivery.stats())).toBe(true)
    expect(told.some((each) => /spool-full/.test(each))).toBe(true)
    sender.answer = up
    await clock.advance(600_000)
    const delivered = sender.sent.filter((body, index) => sender.sent.indexOf(body) === index)
    expect(delivered.filter((body) => body.includes('error'))).toHaveLength(100)
    expect(sender.sent).toContain('{"message":"debug 999"}')
    expect(sender.sent).not.toContain('{"message":"debug 20"}')
  })

  it('gives up records that have been on disk for too long', async () => {
    const { clock, sender, delivery, log } = setUpSpool(spoolFolder(), {
      spool: { maxAgeMs: 3_600_000 },
      delivery: { limits: { maxQueueRecords: 10, maxQueueBytes: 1_000_000 } },
    })
    sender.answer = () => answers.wrongKey
    for (const body of bodies(100)) log(body)
    await clock.advance(3_600_000 - 60_000)
    expect(delivery.stats().dropped['too-old']).toBe(0)
    await clock.advance(120_000)
    const { dropped, queued, inFlight } = delivery.stats()
    expect(dropped['too-old']).toBe(100 - queued - inFlight)
    expect(addsUp(delivery.stats())).toBe(true)
  })

  it('stays at the end with the records that could not be delivered', async () => {
    const dir = spoolFolder()
    const { clock, sender, delivery, log } = setUpSpool(dir)
    sender.answer = (body) => (body.includes('record 3') ? answers.delivered : answers.refused)
    for (const body of bodies(5)) log(body)
    const closed = delivery.close({ timeoutMs: 2000 })
    await clock.advance(2000)
    const ledger = await closed
    expect(ledger).toMatchObject({ accepted: 5, spooled: 5 - ledger.delivered, queued: 0, inFlight: 0 })
    expect(ledger.dropped.shutdown).toBe(0)
    expect(filesIn(dir).some((path) => /lock-\d+$/.test(path))).toBe(false)
  })
})

describe('a record that an engine has left', () => {
  it('is adopted by the next engine with its key, and counted as accepted there', async () => {
    const dir = spoolFolder()
    await leaveRecords(dir, 30)
    const keys = linesIn(dir).map(({ idempotencyKey }) => idempotencyKey)
    const { clock, sender, delivery } = setUpSpool(dir)
    for (let step = 0; step < 40; step++) {
      await pass(clock, 100)
      expect(addsUp(delivery.stats())).toBe(true)
    }
    expect(sender.keys.sort()).toEqual(keys.sort())
    expect(delivery.stats()).toMatchObject({ accepted: 30, adopted: 30, delivered: 30, spooled: 0 })
    await delivery.close({ timeoutMs: 0 })
    expect(readdirSync(dir)).toEqual([])
  })

  it('is sent after new records, at most a thousand a second', async () => {
    const dir = spoolFolder()
    await leaveRecords(dir, 5000)
    const { clock, sender, delivery, log } = setUpSpool(dir, { delivery: { maxConnections: 64 } })
    await clock.advance(999)
    expect(sender.sent).toEqual([])
    while (delivery.stats().delivered < 4900) {
      const before = delivery.stats().delivered
      await pass(clock, 1000)
      expect(delivery.stats().delivered - before).toBeLessThanOrEqual(1100)
      expect(clock.now()).toBeLessThan(60_000)
    }
    // A lane with new records gets no old ones.
    sender.answer = () => answers.wrongKey
    log('{"message":"new"}')
    await clock.advance(10)
    const { spooled } = delivery.stats()
    await clock.advance(5000)
    expect(delivery.stats().spooled).toBe(spooled)
  })

  it('is never adopted twice, however many engines start at once', async () => {
    const dir = spoolFolder()
    await leaveRecords(dir, 100)
    const engines = Array.from({ length: 5 }, () => setUpSpool(dir))
    for (let step = 0; step < 60; step++) await Promise.all(engines.map(({ clock }) => pass(clock, 100)))
    expect(engines.flatMap(({ sender }) => sender.sent).sort()).toEqual(bodies(100, 'left').sort())
  })

  it('is left alone while its engine lives, and adopted when another thread has the same number by now', async () => {
    const dir = spoolFolder()
    const living = setUpSpool(dir)
    living.sender.answer = down
    living.log('{"message":"left 0"}')
    await living.clock.advance(1)
    const { clock, sender } = setUpSpool(dir)
    await pass(clock, 60_000)
    expect(sender.sent).toEqual([])
    const lock = filesIn(dir).find((path) => path.endsWith('lock-1'))!
    const owner = JSON.parse(readFileSync(lock, 'utf8'))
    writeFileSync(lock, JSON.stringify({ ...owner, started: String(Number(owner.started) - 1) }))
    await passUntil(clock, 60_000, () => sender.sent.length === 1)
  })

  it.runIf(full)(
    'is adopted from an engine of another container when that gives no sign of life, and not earlier',
    async () => {
      const dir = spoolFolder()
      const other = setUpSpool(dir)
      other.sender.answer = () => answers.wrongKey
      other.log('{"message":"left 0"}')
      await other.clock.advance(1)
      const lock = filesIn(dir).find((path) => path.endsWith('lock-1'))!
      const owner = JSON.parse(readFileSync(lock, 'utf8'))
      writeFileSync(lock, JSON.stringify({ ...owner, namespace: 'pid:[1]' }))
      const { clock, sender } = setUpSpool(dir)
      for (let step = 0; step < 30; step++) {
        await other.clock.advance(10_000)
        await pass(clock, 10_000)
      }
      expect(sender.sent).toEqual([])
      await passUntil(clock, 120_000, () => sender.sent.length === 1)
    },
  )

  it('stays with a frozen engine when another one has adopted its records of another bucket', async () => {
    const dir = spoolFolder()
    const lanes = [
      { kind: 'logs', bucket: 'b' },
      { kind: 'values', bucket: 'other' },
    ] as const
    const limits = { maxQueueRecords: 20, maxQueueBytes: 1_000_000 }
    const frozen = setUpSpool(dir, { spool: { lanes }, delivery: { lanes, limits } })
    frozen.sender.answer = down
    frozen.log('{"message":"left 0"}')
    for (const body of bodies(100, 'value')) frozen.value(body)
    await frozen.clock.advance(1)
    const lock = filesIn(dir).find((path) => path.endsWith('lock-1'))!
    const owner = JSON.parse(readFileSync(lock, 'utf8'))
    writeFileSync(lock, JSON.stringify({ ...owner, namespace: 'pid:[1]' }))
    const only = [lanes[0]]
    const { clock, sender } = setUpSpool(dir, { spool: { lanes: only }, delivery: { lanes: only } })
    await passUntil(clock, 120_000, () => sender.sent.length === 1)
    await pass(frozen.clock, 5000)
    frozen.sender.answer = up
    await passUntil(frozen.clock, 600_000, () => frozen.delivery.stats().lanes[1]!.delivered === 100)
    expect(frozen.delivery.stats().lanes[1]).toMatchObject({ accepted: 100, delivered: 100 })
    expect(frozen.said).toEqual([])
  })

  it('is not adopted by an engine for another service or bucket', async () => {
    const dir = spoolFolder()
    await leaveRecords(dir, 3)
    const elsewhere = setUpSpool(dir, { spool: { url: 'http://127.0.0.1:2/' } })
    const lanes = [{ kind: 'logs', bucket: 'other' }] as const
    const otherBucket = setUpSpool(dir, { spool: { lanes }, delivery: { lanes } })
    await pass(elsewhere.clock, 30_000)
    await pass(otherBucket.clock, 30_000)
    expect([elsewhere.sender.sent, otherBucket.sender.sent]).toEqual([[], []])
    expect(linesIn(dir)).toHaveLength(3)
  })

  it('stays with its acknowledgements when the engine that adopted it ends as well', async () => {
    const dir = spoolFolder()
    await leaveRecords(dir, 300)
    const second = setUpSpool(dir)
    await passUntil(second.clock, 10_000, () => second.sender.sent.length >= 100)
    const closed = second.delivery.close({ timeoutMs: 0 })
    await second.clock.advance(1)
    await closed
    const third = setUpSpool(dir)
    await passUntil(third.clock, 10_000, () => second.sender.sent.length + third.sender.sent.length >= 300)
    await pass(third.clock, 5000)
    const sent = [...second.sender.sent, ...third.sender.sent]
    expect([...new Set(sent)].sort()).toEqual(bodies(300, 'left').sort())
    // Records that were in flight at the end are sent again, with the same keys.
    expect(sent.length - 300).toBeLessThanOrEqual(second.sender.maxInFlight)
  })
})

describe('when the disk fails', () => {
  it('memory takes over, failure and recovery are reported once, and the spool goes on', async () => {
    const parent = spoolFolder()
    const dir = join(parent, 'spool')
    writeFileSync(dir, 'a file where the folder should be')
    const { clock, sender, delivery, said, log } = setUpSpool(dir)
    for (const body of bodies(10)) log(body)
    await clock.advance(500)
    expect(delivery.stats()).toMatchObject({ delivered: 10 })
    expect(said).toEqual([expect.stringMatching(/cannot be written \((ENOTDIR|EEXIST).*memory alone until it can/)])
    rmSync(dir)
    await clock.advance(60_000)
    sender.answer = down
    log('{"message":"after"}')
    await clock.advance(1)
    expect(said).toHaveLength(2)
    expect(said[1]).toMatch(/can be written again; 10 records were in memory alone/)
    expect(linesIn(dir).map(({ body }) => body)).toEqual(['{"message":"after"}'])
  })

  it('records that were in memory only are on disk at the end, if the disk works again', async () => {
    const dir = join(spoolFolder(), 'spool')
    writeFileSync(dir, '')
    const { clock, sender, delivery, log } = setUpSpool(dir)
    sender.answer = down
    log('{"message":"early"}')
    await clock.advance(10)
    rmSync(dir)
    await clock.advance(2000)
    const closed = delivery.close({ timeoutMs: 0 })
    await clock.advance(1)
    expect(await closed).toMatchObject({ spooled: 1, queued: 0 })
    expect(linesIn(dir).map(({ body }) => body)).toEqual(['{"message":"early"}'])
  })

  it('a removed folder costs the records that were on disk only: they are counted, and the folder is made again', async () => {
    const dir = spoolFolder()
    const { clock, sender, delivery, said, log } = setUpSpool(dir, {
      delivery: { limits: { maxQueueRecords: 10, maxQueueBytes: 1_000_000 } },
    })
    sender.answer = () => answers.wrongKey
    for (const body of bodies(50)) log(body)
    await clock.advance(10)
    const { spooled } = delivery.stats()
    rmSync(dir, { recursive: true })
    await clock.advance(20_000)
    log('{"message":"after"}')
    await clock.advance(20_000)
    expect(said[0]).toMatch(/its folder was removed/)
    expect(delivery.stats().dropped['spool-full']).toBe(spooled)
    expect(addsUp(delivery.stats())).toBe(true)
    expect(linesIn(dir).map(({ body }) => body)).toContain('{"message":"after"}')
  })
})

describe('a rejected record', () => {
  it('becomes a dead letter with the reason, which a person can read and no engine sends', async () => {
    const dir = spoolFolder()
    const { clock, sender, delivery, log } = setUpSpool(dir)
    const validationErrors = [{ name: 'message', attemptedValue: { record: '","record":{' }, message: 'too “odd”' }]
    sender.answer = () => ({ type: 'rejected', status: 400, reason: 'not valid', validationErrors })
    log('{"message":"bad"}', 4)
    await clock.advance(1000)
    await delivery.close({ timeoutMs: 0 })
    const [letter, ...more] = linesIn(join(dir, 'dead-letter'))
    expect(more).toEqual([])
    const refusal = { status: 400, reason: 'not valid', validationErrors, rejectedAt: expect.any(Number) }
    expect(letter).toMatchObject({ kind: 'logs', bucket: 'b', severity: 4, body: '{"message":"bad"}', refusal })
    const next = setUpSpool(dir)
    await pass(next.clock, 30_000)
    expect(next.sender.sent).toEqual([])
  })

  it('takes bounded room: the oldest are removed', async () => {
    const dir = spoolFolder()
    const { clock, sender, log } = setUpSpool(dir, { spool: { maxBytes: 262_144 } })
    sender.answer = () => answers.rejected
    for (let round = 0; round < 300; round++) {
      for (const body of bodies(5, `round ${round}`)) log(body)
      await clock.advance(20)
    }
    const letters = filesIn(join(dir, 'dead-letter'))
    const bytes = letters.reduce((sum, path) => sum + statSync(path).size, 0)
    expect(bytes).toBeGreaterThan(16_384)
    expect(bytes).toBeLessThanOrEqual(32_768)
    expect(linesIn(join(dir, 'dead-letter')).some(({ body }) => body.includes('round 299'))).toBe(true)
  })
})
