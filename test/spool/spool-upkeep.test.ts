import { chmodSync, mkdirSync, readdirSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { setUpLoneSpool } from '../support/lone-spool.js'
import { leaveRecords, linesIn, pass, segmentsIn, spoolFolder } from '../support/spool.js'
import { VirtualClock } from '../support/virtual-clock.js'

const room = { records: 1000, bytes: 1_000_000 }

describe('an adopted record', () => {
  it('is lost when the disk no longer has it, which its owner is told', async () => {
    const dir = spoolFolder()
    await leaveRecords(dir, 1)
    const { clock, owner } = setUpLoneSpool(dir)
    owner.free = { records: 0, bytes: 0 }
    await pass(clock, 5000)
    expect(owner.told).toEqual([{ adopt: 1, lane: 0 }])
    truncateSync(segmentsIn(dir)[0]!)
    owner.free = room
    await pass(clock, 5000)
    expect(owner.told.slice(1)).toEqual([{ lost: { count: 1, reason: 'spool-full', adopted: true }, lane: 0 }])
    expect(readdirSync(dir)).toHaveLength(1)
  })

  it('is given up first to make room, which its owner is told', async () => {
    const dir = spoolFolder()
    await leaveRecords(dir, 1)
    const { clock, owner, keep } = setUpLoneSpool(dir, { maxBytes: 4000 })
    owner.free = { records: 0, bytes: 0 }
    await pass(clock, 5000)
    expect(keep('x'.repeat(3700), 3)).toBeDefined()
    expect(owner.told.slice(1)).toEqual([{ lost: { count: 1, reason: 'spool-full', adopted: true }, lane: 0 }])
  })

  it('is as old as it was in the process that left it', async () => {
    const dir = spoolFolder()
    await leaveRecords(dir, 1)
    const clock = new VirtualClock()
    const wallClock = () => 1_700_000_000_000 + 50_000 + clock.now()
    const { owner } = setUpLoneSpool(dir, { clock, maxAgeMs: 60_000, wallClock })
    owner.free = { records: 0, bytes: 0 }
    await pass(clock, 9000)
    expect(owner.told).toEqual([{ adopt: 1, lane: 0 }])
    await pass(clock, 11_000)
    expect(owner.told.slice(1)).toEqual([{ lost: { count: 1, reason: 'too-old', adopted: true }, lane: 0 }])
  })

  it('counts as new when the clock was set back since', async () => {
    const dir = spoolFolder()
    await leaveRecords(dir, 1)
    const clock = new VirtualClock()
    const wallClock = () => 1_700_000_000_000 - 90_000 + clock.now()
    const { owner } = setUpLoneSpool(dir, { clock, maxAgeMs: 60_000, wallClock })
    owner.free = { records: 0, bytes: 0 }
    await pass(clock, 59_000)
    expect(owner.told).toEqual([{ adopt: 1, lane: 0 }])
    await pass(clock, 20_000)
    expect(owner.told).toHaveLength(2)
  })
})

describe('a spool on a disk that fails', () => {
  it('tells its owner what it could not write of memory, and what was nowhere else', () => {
    const { disk, spool, owner, said, keep } = setUpLoneSpool(spoolFolder())
    keep('written')
    spool.commit()
    const places = ['one', 'two', 'three'].map((text) => keep(text)!)
    spool.park(places[0]!)
    spool.settle(places[1]!)
    disk.fault = (call) => (call.startsWith('writeSync') ? 'ENOSPC' : undefined)
    spool.commit()
    expect(owner.told).toEqual([
      { forgotten: 1, lane: 0 },
      { lost: { count: 1, reason: 'queue-full', adopted: false }, lane: 0 },
    ])
    expect(owner.writes).toBe(1)
    expect(said).toEqual([expect.stringMatching(/cannot be written \(ENOSPC.*records are in memory alone/)])
  })

  it('tells nothing about records that were all settled before they were written', () => {
    const { disk, spool, owner, keep } = setUpLoneSpool(spoolFolder())
    spool.settle(keep('one')!)
    disk.fault = (call) => (call.startsWith('writeSync') ? 'ENOSPC' : undefined)
    spool.commit()
    expect(owner.told).toEqual([])
  })

  it('is tried again after a second, and then says how many records were in memory alone', async () => {
    const { clock, disk, spool, said, keep } = setUpLoneSpool(spoolFolder())
    keep('written')
    spool.commit()
    keep('one')
    disk.fault = (call) => (call.startsWith('writeSync') ? 'ENOSPC' : undefined)
    spool.commit()
    disk.fault = () => undefined
    await clock.advance(999)
    expect(keep('two')).toBeUndefined()
    await clock.advance(1)
    expect(keep('three')).toBeDefined()
    spool.commit()
    expect(said.slice(1)).toEqual([expect.stringMatching(/can be written again; 2 records were in memory alone/)])
  })

  it('is tried again at once when its owner looks, but not after the end', () => {
    const dir = spoolFolder()
    const { disk, spool, keep } = setUpLoneSpool(dir)
    keep('one')
    disk.fault = (call) => (/^writeSync .*ndjson/.test(call) ? 'ENOSPC' : undefined)
    spool.commit()
    // A file without records goes at once.
    expect(segmentsIn(dir)).toEqual([])
    expect(keep('two')).toBeUndefined()
    disk.fault = () => undefined
    spool.look()
    expect(keep('three')).toBeDefined()
    spool.close()
    disk.calls.length = 0
    spool.look()
    expect(disk.calls).toEqual([])
  })
})

describe('the upkeep of a spool', () => {
  it('comes with a write, more than a second after the last', async () => {
    const { clock, disk, spool, keep } = setUpLoneSpool(spoolFolder(), { random: () => 0.99 })
    keep('one')
    await clock.advance(500)
    spool.look()
    const signs = () => disk.calls.filter((call) => call.startsWith('utimesSync')).length
    expect(signs()).toBe(1)
    await clock.advance(1000)
    spool.commit()
    expect(signs()).toBe(1)
    await clock.advance(1)
    spool.commit()
    expect(signs()).toBe(2)
  })

  it('finds that the folder was removed', () => {
    const dir = spoolFolder()
    const { spool, said, owner, keep } = setUpLoneSpool(dir)
    keep('one')
    spool.commit()
    rmSync(dir, { recursive: true })
    spool.look()
    expect(said).toEqual([expect.stringMatching(/its folder was removed/)])
    expect(owner.told).toEqual([{ forgotten: 1, lane: 0 }])
  })
})

describe('the end of a spool', () => {
  it('happens once, and leaves no folder where there was nothing to keep', async () => {
    const dir = spoolFolder()
    const { clock, disk, spool } = setUpLoneSpool(dir)
    spool.close()
    await pass(clock, 30_000)
    expect(readdirSync(dir)).toEqual([])
    disk.calls.length = 0
    spool.close()
    expect(disk.calls).toEqual([])
    expect(clock.timers).toBe(0)
  })

  it('writes what was gathered, and removes what is settled', () => {
    const dir = spoolFolder()
    const { disk, spool, keep } = setUpLoneSpool(dir)
    spool.settle(keep('debug', 1)!)
    keep('info', 2)
    spool.close()
    expect(linesIn(dir).map(({ body }) => body)).toEqual(['{"message":"info"}'])
    expect(segmentsIn(dir)).toHaveLength(1)
    disk.calls.length = 0
    spool.close()
    expect(disk.calls).toEqual([])
  })
})

describe('the dead letters of a spool', () => {
  it('need a folder that no other user can write, which is said', () => {
    const dir = spoolFolder()
    const { spool, said, keep } = setUpLoneSpool(dir)
    keep('one')
    mkdirSync(join(dir, 'dead-letter'))
    chmodSync(join(dir, 'dead-letter'), 0o777)
    const record = { body: '{"message":"bad"}', bytes: 17, severity: 2, idempotencyKey: 'key' } as const
    spool.reject(0, record, { type: 'rejected', status: 400, reason: 'not valid', validationErrors: [] })
    expect(said).toEqual([
      expect.stringMatching(/\(dead-letter is not a folder that only this user can write: move it away\)$/),
    ])
    expect(linesIn(dir).map(({ body }) => body)).toEqual(['{"message":"one"}'])
  })
})
