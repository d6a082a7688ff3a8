import { statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isOnDisk } from '../support/logs.js'
import { leave, setUpLoneSpool } from '../support/lone-spool.js'
import { segmentsIn, spoolFolder } from '../support/spool.js'
import { VirtualClock } from '../support/virtual-clock.js'

const hourMs = 3_600_000
const sizeOf = (dir: string) => segmentsIn(dir).reduce((sum, path) => sum + statSync(path).size, 0)

describe('the bound in bytes', () => {
  it('holds, and costs the oldest of the least severe records', () => {
    const dir = spoolFolder()
    const { spool, logs } = setUpLoneSpool(dir, { maxBytes: 65_536 })
    const text = 'x'.repeat(800)
    const errors = Array.from({ length: 10 }, () => logs.keep(text, { severity: 4 }))
    const debugs = Array.from({ length: 10 }, () => logs.keep(text, { severity: 1 }))
    spool.commit()
    const infos = Array.from({ length: 100 }, (_, index) => {
      const ref = logs.keep(`${index} ${text}`)
      logs.evict()
      expect(sizeOf(dir)).toBeLessThanOrEqual(65_536)
      return ref
    })
    expect(errors.every(isOnDisk)).toBe(true)
    expect(debugs.some(isOnDisk)).toBe(false)
    const left = infos.filter(isOnDisk)
    expect(left).toEqual(infos.slice(-left.length))
    expect(left.length).toBeGreaterThan(30)
    expect(logs.lost.every(({ reason }) => reason === 'spool-full')).toBe(true)
    const { accepted, spooled, queued, dropped } = logs.ledger.read()
    expect([accepted, spooled + queued + dropped['spool-full']]).toEqual([120, 120])
  })

  it('leaves a record in memory alone that has no room, where all others are more severe', () => {
    const dir = spoolFolder()
    const { spool, logs } = setUpLoneSpool(dir, { maxBytes: 65_536 })
    const errors = Array.from({ length: 60 }, () => logs.keep('x'.repeat(800), { severity: 4 }))
    const info = logs.keep('y'.repeat(16_000))
    spool.commit()
    expect(errors.every(isOnDisk)).toBe(true)
    expect([isOnDisk(info), spool.takes, spool.lossReason]).toEqual([false, false, 'spool-full'])
  })

  it('gives room again when records are delivered', () => {
    const dir = spoolFolder()
    const { spool, logs } = setUpLoneSpool(dir, { maxBytes: 65_536 })
    const errors = Array.from({ length: 60 }, () => {
      const ref = logs.keep('x'.repeat(800), { severity: 4 })
      spool.commit()
      return ref
    })
    const info = logs.keep('y'.repeat(16_000))
    spool.commit()
    expect([isOnDisk(info), spool.takes]).toEqual([false, false])
    for (const ref of errors.slice(0, 20)) logs.settle(ref)
    spool.commit()
    expect([isOnDisk(info), spool.takes]).toEqual([true, true])
  })

  it('takes of a turn with more than fits as much as fits', () => {
    const dir = spoolFolder()
    const { spool, logs } = setUpLoneSpool(dir, { maxBytes: 65_536 })
    const refs = Array.from({ length: 200 }, () => logs.keep('x'.repeat(800)))
    spool.commit()
    const written = refs.filter(isOnDisk)
    expect(written).toEqual(refs.slice(0, written.length))
    expect(written.length).toBeGreaterThan(50)
    expect(sizeOf(dir)).toBeLessThanOrEqual(65_536)
  })

  it('holds for what dead engines have left, too', async () => {
    const dir = spoolFolder()
    for (let engine = 0; engine < 3; engine++)
      leave(
        dir,
        Array.from({ length: 30 }, () => 'x'.repeat(1000)),
      )
    const { clock, logs } = setUpLoneSpool(dir, { maxBytes: 65_536 })
    await clock.advance(3000)
    expect(sizeOf(dir)).toBeLessThanOrEqual(65_536)
    expect(logs.ledger.read()).toMatchObject({ adopted: 90, spooled: 30, dropped: { 'spool-full': 60 } })
  })

  it('costs what a dead engine has left before newer records that are as severe', async () => {
    const dir = spoolFolder()
    leave(
      dir,
      Array.from({ length: 20 }, () => 'x'.repeat(1000)),
    )
    const { clock, logs, spool } = setUpLoneSpool(dir, { maxBytes: 65_536, wallClock: () => 1_700_000_900_000 })
    const own = Array.from({ length: 20 }, () => logs.keep('y'.repeat(1000)))
    spool.commit()
    await clock.advance(3000)
    const later = Array.from({ length: 30 }, () => logs.keep('z'.repeat(1000)))
    spool.commit()
    expect([...own, ...later].every(isOnDisk)).toBe(true)
    expect(logs.ledger.read()).toMatchObject({ spooled: 0, dropped: { 'spool-full': 20 } })
  })

  it('does not cost a file its own lines, when a turn has more than fits', () => {
    const dir = spoolFolder()
    const { spool, logs } = setUpLoneSpool(dir, { maxBytes: 65_536 })
    const first = logs.keep('first')
    spool.commit()
    const files = segmentsIn(dir)
    const refs = Array.from({ length: 200 }, () => logs.keep('x'.repeat(800)))
    spool.commit()
    expect([isOnDisk(first), isOnDisk(refs[0]!)]).toEqual([true, true])
    expect(segmentsIn(dir)).toEqual(files)
  })

  it('costs a record in memory its place on disk only', () => {
    const { spool, logs } = setUpLoneSpool(spoolFolder(), { maxBytes: 65_536 })
    const debug = logs.keep('debug', { severity: 1 })
    const ref = logs.read('own')[0]!.ref
    spool.commit()
    logs.keep('x'.repeat(65_300), { severity: 4 })
    spool.commit()
    expect(isOnDisk(debug)).toBe(false)
    expect(logs.lost).toEqual([])
    expect(logs.ledger.copy().onDisk[0]).toBe(1)
    logs.fail(ref)
    expect(logs.read('own').map(({ message }) => message.slice(0, 5))).toContain('debug')
  })
})

describe('the age of records', () => {
  it('is bounded: those that are on disk alone are given up, and those in memory are there alone', async () => {
    const { clock, spool, logs } = setUpLoneSpool(spoolFolder(), { maxAgeMs: hourMs })
    logs.keep('parked')
    logs.evict()
    const kept = logs.keep('kept')
    spool.commit()
    await clock.advance(hourMs - 1)
    expect(isOnDisk(kept)).toBe(true)
    await clock.advance(20_000)
    expect(isOnDisk(kept)).toBe(false)
    expect(logs.lost).toEqual([{ reason: 'too-old', count: 1 }])
    expect(logs.ledger.read()).toMatchObject({ queued: 1, spooled: 0, dropped: { 'too-old': 1 } })
    expect(logs.ledger.copy().onDisk[0]).toBe(0)
  })

  it('is about the same in a file', async () => {
    const dir = spoolFolder()
    const { clock, spool, logs } = setUpLoneSpool(dir, { maxAgeMs: 16 * hourMs })
    for (const advance of [hourMs - 20_000, 40_000, 1000]) {
      logs.keep('x')
      spool.commit()
      await clock.advance(advance)
    }
    expect(segmentsIn(dir)).toHaveLength(2)
  })

  it('of records that a dead engine has left counts from their acceptance', async () => {
    const dir = spoolFolder()
    leave(dir, ['old'])
    const { clock, logs } = setUpLoneSpool(dir, {
      maxAgeMs: hourMs,
      wallClock: () => 1_700_000_000_000 + hourMs - 10_000,
    })
    await clock.advance(2000)
    expect(logs.ledger.read()).toMatchObject({ adopted: 1, spooled: 1 })
    await clock.advance(20_000)
    expect(logs.ledger.read()).toMatchObject({ spooled: 0, dropped: { 'too-old': 1 } })
    expect(segmentsIn(dir)).toEqual([])
  })
})

describe('what a dead engine has left', () => {
  it('is given up when it is found, if it is too old by then', async () => {
    const dir = spoolFolder()
    leave(dir, ['old'])
    const { clock, logs } = setUpLoneSpool(dir, { maxAgeMs: hourMs, wallClock: () => 1_700_000_000_001 + hourMs })
    await clock.advance(1001)
    expect(logs.ledger.read()).toMatchObject({ adopted: 1, spooled: 0, dropped: { 'too-old': 1 } })
    expect(segmentsIn(dir)).toEqual([])
  })
})

describe('the clock of the machine', () => {
  it('may be set back: records of a dead engine count as new then', async () => {
    const dir = spoolFolder()
    leave(dir, ['left'])
    const clock = new VirtualClock()
    const wallClock = () => 1_700_000_000_000 - 90_000 + clock.now()
    const { logs } = setUpLoneSpool(dir, { clock, wallClock, maxAgeMs: 60_000 })
    await clock.advance(59_000)
    expect(logs.ledger.read()).toMatchObject({ adopted: 1, spooled: 1 })
    await clock.advance(20_000)
    expect(logs.ledger.read()).toMatchObject({ spooled: 0, dropped: { 'too-old': 1 } })
  })
})

describe('a segment that has lost its file', () => {
  it('gets another one when it leaves memory, and loses nothing by the first', async () => {
    const { clock, logs } = setUpLoneSpool(spoolFolder(), { maxAgeMs: hourMs })
    const refs = ['one', 'two'].map((text) => logs.keep(text))
    logs.keep('parked', { severity: 4 })
    await clock.advance(20_000)
    await clock.advance(hourMs + 20_000)
    expect(refs.map(isOnDisk)).toEqual([false, false])
    logs.evict()
    expect(logs.ledger.read()).toMatchObject({ spooled: 3 })
    for (const { ref } of logs.read('own')) logs.fail(ref)
    expect(logs.ledger.read()).toMatchObject({ spooled: 3 })
    expect(logs.read('own').map(({ message }) => message)).toEqual(['one', 'two', 'parked'])
    expect(logs.lost).toEqual([])
  })
})
