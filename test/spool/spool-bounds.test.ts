import { truncateSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { setUpLoneSpool } from '../support/lone-spool.js'
import { linesIn, segmentsIn, spoolFolder } from '../support/spool.js'

const room = { records: 1000, bytes: 1_000_000 }
const kb = (text: string) => text.padEnd(1000, '.')

describe('what a spool writes', () => {
  it('is written once at the end of the turn', () => {
    const dir = spoolFolder()
    const { spool, tasks, owner, keep } = setUpLoneSpool(dir)
    keep('one')
    keep('two')
    expect(tasks).toHaveLength(1)
    expect([linesIn(dir).length, owner.writes]).toEqual([0, 0])
    tasks[0]!()
    expect([linesIn(dir).length, owner.writes]).toEqual([2, 1])
    keep('three')
    expect(tasks).toHaveLength(2)
    spool.commit()
    expect(owner.writes).toBe(2)
  })

  it('is written earlier when more than 256 KiB are gathered', () => {
    const dir = spoolFolder()
    const { keep } = setUpLoneSpool(dir, { maxBytes: 8_388_608 })
    keep('x'.repeat(250_000))
    keep('y'.repeat(20_000))
    expect(linesIn(dir)).toEqual([])
    keep('z')
    expect(linesIn(dir)).toHaveLength(2)
  })

  it('goes to another file after a sixteenth of the bound', () => {
    const dir = spoolFolder()
    const { spool, keep } = setUpLoneSpool(dir, { maxBytes: 16 * 4000 })
    for (let number = 0; number < 8; number++) keep(kb(`${number}`))
    expect(segmentsIn(dir)).toHaveLength(2)
    spool.commit()
    expect(linesIn(dir)).toHaveLength(8)
  })

  it('goes to another file after 8 MiB, however large the bound', () => {
    const dir = spoolFolder()
    const { keep } = setUpLoneSpool(dir, { maxBytes: 1_000_000_000 })
    const megabyte = 'x'.repeat(1_048_576)
    for (let number = 0; number < 8; number++) keep(megabyte)
    expect(segmentsIn(dir)).toHaveLength(1)
    keep(megabyte)
    expect(segmentsIn(dir)).toHaveLength(2)
  })

  it('goes to another file after a sixteenth of the longest age, for its lane and severity only', async () => {
    const dir = spoolFolder()
    const { clock, keep } = setUpLoneSpool(dir, { maxAgeMs: 16_000 })
    keep('one', 2)
    await clock.advance(500)
    keep('other', 3)
    await clock.advance(501)
    keep('two', 2)
    keep('another', 3)
    expect(segmentsIn(dir)).toHaveLength(3)
  })
})

describe('a spool without room', () => {
  it('says that it is full, until it has room or the disk fails', () => {
    const { disk, spool, keep } = setUpLoneSpool(spoolFolder(), { maxBytes: 2000 })
    expect(spool.lossReason).toBe('queue-full')
    expect(keep('x'.repeat(1900))).toBeUndefined()
    expect(spool.lossReason).toBe('spool-full')
    expect(keep('small', 4)).toBeDefined()
    expect(spool.lossReason).toBe('queue-full')
    keep('x'.repeat(1900))
    disk.fault = () => 'EIO'
    spool.commit()
    expect(spool.lossReason).toBe('spool-full')
    expect(keep('small')).toBeUndefined()
    expect(spool.lossReason).toBe('queue-full')
  })

  it('counts 200 bytes more for a record than its text has', () => {
    const { keep } = setUpLoneSpool(spoolFolder(), { maxBytes: 1000 })
    const frame = '{"message":""}'.length
    expect(keep('x'.repeat(801 - frame))).toBeUndefined()
    expect(keep('x'.repeat(800 - frame))).toBeDefined()
  })

  it('gives up what it has of a severity, and tells how much was in memory and how much on disk alone', () => {
    const { spool, owner, keep } = setUpLoneSpool(spoolFolder(), { maxBytes: 64_000 })
    const kept = [0, 1, 2].map((number) => keep(`${number}`, 1)!)
    spool.commit()
    expect([spool.park(kept[0]!), spool.park(kept[0]!)]).toEqual([true, false])
    expect(keep('x'.repeat(63_750), 3)).toBeDefined()
    expect(owner.told).toEqual([
      { forgotten: 2, lane: 0 },
      { lost: { count: 1, reason: 'spool-full', adopted: false }, lane: 0 },
    ])
    expect(spool.park(kept[1]!)).toBe(false)
    expect(spool.settle(kept[1]!)).toBe(false)
  })

  it('tells nothing about memory when all that it gives up was on disk alone, and the other way round', () => {
    const { spool, owner, keep } = setUpLoneSpool(spoolFolder(), { maxBytes: 64_000 })
    spool.park(keep('parked', 1)!)
    keep('x'.repeat(63_750), 3)
    const lost = [{ lost: { count: 1, reason: 'spool-full', adopted: false }, lane: 0 }]
    expect(owner.told).toEqual(lost)
    keep('y'.repeat(63_750), 4)
    expect(owner.told).toEqual([...lost, { forgotten: 1, lane: 0 }])
  })
})

describe('a record in a spool', () => {
  it('is settled once', () => {
    const { spool, keep } = setUpLoneSpool(spoolFolder())
    const place = keep('one')!
    keep('two')
    expect([spool.settle(place), spool.settle(place)]).toEqual([true, false])
    expect(spool.park(place)).toBe(false)
  })

  it('is neither kept nor settled after the end', () => {
    const dir = spoolFolder()
    const { spool, keep } = setUpLoneSpool(dir)
    const place = keep('one')!
    spool.close()
    expect(spool.settle(place)).toBe(false)
    expect(keep('two')).toBeUndefined()
    expect(linesIn(dir)).toHaveLength(1)
  })

  it('comes back from the disk as it was', () => {
    const { spool, keep } = setUpLoneSpool(spoolFolder())
    spool.park(keep('one')!)
    expect(spool.unpark(0, room)).toMatchObject([
      { body: '{"message":"one"}', bytes: 17, severity: 2, idempotencyKey: 'key-one' },
    ])
    expect(spool.unpark(0, room)).toEqual([])
  })

  it('is lost when the disk no longer has it, which its owner is told', () => {
    const dir = spoolFolder()
    const { spool, owner, keep } = setUpLoneSpool(dir)
    spool.park(keep('one')!)
    spool.commit()
    truncateSync(segmentsIn(dir)[0]!)
    expect(spool.unpark(0, room)).toEqual([])
    expect(owner.told).toEqual([{ lost: { count: 1, reason: 'spool-full', adopted: false }, lane: 0 }])
  })

  it('stays on disk while it cannot be read, which is said', () => {
    const { disk, spool, said, owner, keep } = setUpLoneSpool(spoolFolder())
    spool.park(keep('one')!)
    spool.commit()
    disk.fault = (call) => (/^readSync .*ndjson/.test(call) ? 'EIO' : undefined)
    expect(spool.unpark(0, room)).toEqual([])
    expect([said, owner.told]).toEqual([[expect.stringMatching(/records cannot be read back: .* \(EIO/)], []])
    disk.fault = () => undefined
    expect(spool.unpark(0, room)).toHaveLength(1)
    expect(said).toHaveLength(1)
  })
})
