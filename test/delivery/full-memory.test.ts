import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Severity } from '../../src/records/level.js'
import { MemorySpool } from '../log/memory-spool.js'
import { addsUp, setUp } from '../support/delivery.js'
import { runs } from '../support/full.js'
import { leave } from '../support/lone-spool.js'
import { silentObserver } from '../support/observer.js'
import { answers } from '../support/scripted-sender.js'
import { filesIn, passUntil, setUpSpool, spoolFolder } from '../support/spool.js'

const limits = { maxQueueRecords: 8, maxQueueBytes: 10_000 }

/** A delivery over a disk in memory, with room for eight records beside it. */
function setUpSmall() {
  const spool = new MemorySpool()
  const set = setUp({ backing: spool, limits })
  const logs = (count: number, severity?: Severity) => {
    for (let number = 0; number < count; number++) set.log(`log ${number}`, severity)
  }
  /** Records in memory and on disk alone, of the lane for logs and of that for values. */
  const places = () => set.delivery.stats().lanes.map(({ queued, spooled }) => [queued, spooled])
  return { ...set, spool, logs, places }
}

describe('a full memory', () => {
  it('leaves to the disk the records of a lane that may not send, before those of one that may', async () => {
    const { clock, sender, logs, value, places } = setUpSmall()
    sender.answer = (body) => (body.startsWith('value') ? answers.delivered : answers.refused)
    logs(4, 5)
    await clock.advance(1)
    for (let number = 0; number < 5; number++) value(`value ${number}`)
    expect(places()).toEqual([
      [0, 4],
      [5, 0],
    ])
  })

  it('holds its bounds while records come back from disk, which all arrive, each once and with its own key', async () => {
    const { clock, sender, delivery, log, value } = setUpSpool(spoolFolder(), { delivery: { limits } })
    sender.answer = () => answers.refused
    const bodies: string[] = []
    for (let number = 0; number < 120; number++) {
      const body = JSON.stringify({ number })
      bodies.push(body)
      if (number % 3 === 0) value(body)
      else log(body, number % 2 === 0 ? 2 : 4)
      if (number % 10 === 0) await clock.advance(1)
    }
    expect(delivery.stats().spooled).toBeGreaterThan(100)
    await clock.advance(1000)
    sender.sent.length = 0
    sender.keys.length = 0
    sender.answer = () => answers.delivered
    while (delivery.stats().delivered < 120) {
      await clock.advance(1)
      const { queued, inFlight, heldBytes } = delivery.stats()
      expect(queued + inFlight).toBeLessThanOrEqual(8)
      expect(heldBytes).toBeLessThanOrEqual(10_000)
      expect(clock.now()).toBeLessThan(100_000)
    }
    expect(sender.sent.toSorted()).toEqual(bodies.toSorted())
    expect(new Set(sender.keys).size).toBe(120)
  })

  it('tests the service with a record from disk where a lane has no other one', async () => {
    const { clock, sender, delivery, logs, places } = setUpSmall()
    sender.answer = () => answers.refused
    logs(5)
    await clock.advance(1)
    delivery.park()
    expect(places()[0]).toEqual([0, 5])
    sender.sent.length = 0
    await clock.advance(60_000)
    expect(sender.sent.length).toBeGreaterThan(2)
    expect(sender.maxInFlight).toBe(1)
    sender.answer = () => answers.delivered
    await clock.advance(60_000)
    expect(delivery.stats()).toMatchObject({ delivered: 5, spooled: 0, queued: 0 })
  })
})

describe('a disk that does not answer', () => {
  it('is asked again after a second, and its lane sends nothing meanwhile', async () => {
    const { clock, sender, delivery, spool, logs } = setUpSmall()
    logs(3)
    delivery.park()
    spool.isSlow = true
    await clock.advance(500)
    spool.isSlow = false
    logs(1)
    await clock.advance(499)
    expect(sender.sent).toEqual([])
    await clock.advance(1)
    expect(sender.sent).toHaveLength(1)
    await clock.advance(100)
    expect(delivery.stats()).toMatchObject({ delivered: 4, spooled: 0 })
  })
})

describe('a record on disk for which there is no room in memory', () => {
  it.each([
    ['has failed when nothing succeeded', ['one'], answers.refused],
    ['was never sent', ['first', 'one'], answers.refused],
    ['failed where another one succeeded', ['one', 'good'], answers.failed],
  ])('waits until others have left, where it %s', async (_, bodies, outcome) => {
    const { clock, sender, delivery, log, value } = setUpSmall()
    let isWell = false
    sender.answer = (body) => (isWell || body === 'good' || body.startsWith('value') ? answers.delivered : outcome)
    sender.latencyMs = 0
    for (const body of bodies) log(body)
    await clock.advance(100)
    delivery.park()
    const { delivered } = delivery.stats()
    isWell = true
    sender.latencyMs = 20_000
    sender.sent.length = 0
    for (let number = 0; number < 8; number++) value(`value ${number}`)
    const logsSent = () => sender.sent.filter((body) => !body.startsWith('value'))
    await clock.advance(19_000)
    expect(logsSent()).toEqual([])
    await clock.advance(2000)
    expect(logsSent()).toHaveLength(1)
    await clock.advance(200_000)
    expect(delivery.stats()).toMatchObject({
      delivered: delivered + 8 + bodies.filter((body) => body !== 'good').length,
    })
  })
})

describe('records on disk for which there is no room in memory, in a lane that sends', () => {
  it.each(['logs', 'adopted'] as const)(
    'go out as soon as others have left, though nothing else happens (%s)',
    async (of) => {
      const { clock, sender, delivery, value } = setUpSmall()
      const log = of === 'adopted' ? delivery.adoptedLog(0, 2) : delivery.lanes[0]!.logs.of(2)
      log.append({ body: 'one', bytes: 3 }, 1000, 'none')
      for (const segment of log.segments()) log.evict(segment)
      sender.latencyMs = 20_000
      for (let number = 0; number < 8; number++) value(`value ${number}`)
      await clock.advance(0)
      delivery.adopted(0)
      await clock.advance(19_999)
      expect(sender.sent).toContain('value 0')
      expect(sender.sent).not.toContain('one')
      await clock.advance(1)
      expect(sender.sent).toContain('one')
    },
  )
})

describe('a record that the service rejects', () => {
  it('goes to the dead letters with its key, and no other does', async () => {
    const dir = spoolFolder()
    const { clock, sender, spool, log } = setUpSpool(dir)
    sender.answer = (body) => (body.includes('bad') ? answers.rejected : answers.delivered)
    log('{"message":"bad"}')
    log('{"message":"good"}')
    await clock.advance(100)
    spool.close()
    const letters = filesIn(dir).filter((path) => path.includes('dead-letter'))
    expect(letters).toHaveLength(1)
    const text = readFileSync(letters[0]!, 'utf8')
    expect(text).toContain(sender.keys[0])
    expect(text).toContain('{"message":"bad"}')
    expect(text).not.toContain('good')
  })
})

describe('records that the disk has lost', () => {
  it('end a drain that waits for them', async () => {
    const { clock, sender, spool, delivery, told } = setUpSpool(spoolFolder(), { spool: { maxAgeMs: 10_000 } })
    sender.answer = () => answers.refused
    delivery.accept(0, { body: '{"message":"one"}', severity: 2 })
    await clock.advance(1)
    delivery.park()
    let endedAt = Number.POSITIVE_INFINITY
    void delivery.flush({ timeoutMs: 600_000 }).then(() => {
      endedAt = clock.now()
    })
    await passUntil(clock, 60_000, () => endedAt < Number.POSITIVE_INFINITY)
    expect(endedAt).toBeGreaterThan(9000)
    expect(told).toContain('logs dropped 1 too-old')
    expect(delivery.stats()).toMatchObject({ spooled: 0, dropped: { 'too-old': 1 } })
    expect(addsUp(delivery.stats())).toBe(true)
    spool.close()
  })
})

describe('a drain', () => {
  it('does not wait for records that another process has left', async () => {
    const dir = spoolFolder()
    leave(dir, ['one', 'two'])
    const { clock, sender, spool, delivery } = setUpSpool(dir)
    sender.answer = () => answers.refused
    await passUntil(clock, 10_000, () => delivery.stats().adopted === 2)
    let isOver = false
    void delivery.flush({ timeoutMs: 60_000 }).then(() => {
      isOver = true
    })
    await clock.advance(1)
    expect(isOver).toBe(true)
    expect(delivery.stats()).toMatchObject({ adopted: 2, delivered: 0 })
    spool.close()
  })
})

describe('records that another process has left', () => {
  it('go out a hundred in a tenth of a second, and behind those of this one', async () => {
    const dir = spoolFolder()
    leave(
      dir,
      Array.from({ length: 250 }, (_, number) => `left ${number}`),
    )
    const { clock, sender, spool, delivery, log } = setUpSpool(dir)
    const counts = new Map<number, number>()
    sender.before = (bodies) => {
      const left = bodies.filter((body) => body.includes('left')).length
      const tenth = Math.floor(clock.now() / 100)
      counts.set(tenth, (counts.get(tenth) ?? 0) + left)
    }
    await passUntil(clock, 10_000, () => delivery.stats().adopted === 250)
    for (let number = 0; number < 200; number++) log(`{"message":"own ${number}"}`)
    await clock.advance(0)
    await passUntil(clock, 10_000, () => delivery.stats().delivered === 450)
    expect(Math.max(...counts.values())).toBeLessThanOrEqual(200)
    expect(counts.size).toBeGreaterThanOrEqual(3)
    const behind = sender.sent.slice(sender.sent.findIndex((body) => body.includes('own')))
    const lastOwn = behind.findLastIndex((body) => body.includes('own'))
    expect(behind.slice(0, lastOwn).filter((body) => body.includes('left'))).toEqual([])
    spool.close()
  })
})

describe('the parking of a delivery, before a signal that may end the process', () => {
  /** A delivery in an outage, with a probe in flight. */
  async function parked() {
    const set = setUpSmall()
    const { clock, sender, delivery, logs } = set
    sender.answer = () => answers.refused
    logs(5)
    await clock.advance(2000)
    sender.latencyMs = 10_000
    while (delivery.stats().inFlight === 0) await clock.advance(100)
    expect(delivery.park()).toMatchObject({ accepted: 5, spooled: 5, queued: 0, inFlight: 0, heldBytes: 0 })
    sender.latencyMs = 1
    sender.answer = () => answers.delivered
    return set
  }

  it.each(['a flush', 'a new record', 'time'])(
    'stops no lane whose probe it gave up: %s brings all back',
    async (how) => {
      const { clock, delivery, spool, log } = await parked()
      if (how === 'a flush') void delivery.flush({ timeoutMs: 100 })
      if (how === 'a new record') log('another')
      await clock.advance(60_000)
      expect(delivery.stats()).toMatchObject({ delivered: how === 'a new record' ? 6 : 5, spooled: 0, queued: 0 })
      expect(clock.timers).toBe(0)
      expect([...spool.files.values()].every((lines) => lines.size === 0)).toBe(true)
    },
  )

  it('keeps records in memory while the disk does not take them', () => {
    const { spool, delivery, logs } = setUpSmall()
    spool.takes = false
    logs(1)
    expect(delivery.park()).toMatchObject({ spooled: 0, queued: 1 })
    spool.takes = true
    expect(delivery.park()).toMatchObject({ spooled: 1, queued: 0 })
  })
})

describe('a listener that logs', () => {
  it('while a record takes the place of another has its own record delivered, and harms neither', async () => {
    const lost: string[] = []
    const set = setUp({
      limits: { maxQueueRecords: 3, maxQueueBytes: 1000 },
      observer: {
        ...silentObserver,
        dropped: () => {
          lost.push('one')
          if (lost.length === 1) set.log('of the listener', 4)
        },
      },
    })
    for (const body of ['one', 'two', 'three', 'four']) set.log(body)
    await set.clock.advance(100)
    expect(set.sender.sent).toEqual(['three', 'four', 'of the listener'])
    expect(set.delivery.stats()).toMatchObject({ accepted: 5, delivered: 3 })
    expect(addsUp(set.delivery.stats())).toBe(true)
  })
})

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ log: fc.nat(30), severity: fc.constantFrom<Severity>(0, 1, 2, 3, 4, 5) }) },
  { weight: 2, arbitrary: fc.record({ value: fc.nat(10) }) },
  { weight: 1, arbitrary: fc.record({ keyed: fc.nat(10) }) },
  { weight: 3, arbitrary: fc.record({ answer: fc.constantFrom(...Object.values(answers)) }) },
  { weight: 3, arbitrary: fc.record({ passMs: fc.constantFrom(1, 50, 5000, 400_000) }) },
  { weight: 1, arbitrary: fc.record({ flushMs: fc.constantFrom(0, 1000) }) },
  { weight: 1, arbitrary: fc.constant({ parks: true }) },
  { weight: 1, arbitrary: fc.record({ takes: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ isSlow: fc.boolean() }) },
)

describe('delivery over a disk that fails now and then', { timeout: 60_000 }, () => {
  it('accounts for every record at every instant, within its bounds, and loses none that the disk has', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.boolean(), async (steps, closes) => {
        const { clock, sender, spool, delivery, log, value } = setUpSmall()
        let number = 0
        for (const each of steps) {
          if ('log' in each) for (let n = 0; n < each.log; n++) log(`log ${number++}`, each.severity)
          else if ('value' in each) for (let n = 0; n < each.value; n++) value(`value ${number++}`)
          else if ('keyed' in each) {
            for (let n = 0; n < each.keyed; n++) {
              const body = `keyed ${number++}`
              delivery.accept(1, { body, severity: 6, idempotencyKey: `key of ${body}` })
            }
          } else if ('answer' in each) sender.answer = () => each.answer
          else if ('flushMs' in each) void delivery.flush({ timeoutMs: each.flushMs })
          else if ('parks' in each) delivery.park()
          else if ('takes' in each) spool.takes = each.takes
          else if ('isSlow' in each) spool.isSlow = each.isSlow
          else await clock.advance(each.passMs)
          const ledger = delivery.stats()
          expect(addsUp(ledger)).toBe(true)
          expect(ledger.queued + ledger.inFlight).toBeLessThanOrEqual(8)
          const onDisk = [...spool.files.values()].reduce((sum, { size }) => sum + size, 0)
          expect(ledger.spooled).toBeLessThanOrEqual(onDisk)
        }
        Object.assign(spool, { takes: true, isSlow: false })
        if (closes) {
          const closed = delivery.close({ timeoutMs: 100 })
          await clock.advance(100)
          expect(await closed).toMatchObject({ queued: 0, inFlight: 0, heldBytes: 0, dropped: { shutdown: 0 } })
        } else {
          sender.answer = () => answers.delivered
          await clock.advance(2_000_000)
          // What was parked waits for the next record, or for a drain.
          void delivery.flush({ timeoutMs: 1000 })
          await clock.advance(2_000_000)
          expect(delivery.stats()).toMatchObject({ queued: 0, inFlight: 0, spooled: 0, heldBytes: 0 })
          expect([...spool.files.values()].flatMap((lines) => [...lines.values()])).toEqual([])
        }
        expect(addsUp(delivery.stats())).toBe(true)
      }),
      { numRuns: runs({ some: 80, all: 3000 }) },
    )
  })
})
