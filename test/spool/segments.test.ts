import { existsSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Severity } from '../../src/records/level.js'
import { acknowledgementsOf } from '../../src/spool/acknowledgements.js'
import { places, Segment } from '../../src/spool/segment.js'
import { Segments, SettledSegments } from '../../src/spool/segments.js'
import { lineMiddle, spoolLine } from '../../src/spool/spool-line.js'
import { spoolFolder } from '../support/spool.js'
import { VirtualClock } from '../support/virtual-clock.js'
import { WatchedFiles } from '../support/watched-files.js'

/** Segments that may have 1,000 bytes and be 1,000 ms old. */
function setUp() {
  const dir = spoolFolder()
  const clock = new VirtualClock()
  const disk = new WatchedFiles()
  const gaveUp: string[] = []
  const stuck: unknown[] = []
  const segments = new Segments({
    maxBytes: 1000,
    maxAgeMs: 1000,
    clock,
    seal: () => {},
    gaveUp: ({ path }, reason) => gaveUp.push(`${path.slice(dir.length + 1)} ${reason}`),
    stuck: (error) => stuck.push(error),
  })
  const make = (name: string, severity: Severity, { lastAt = 0, bytes = 0 } = {}) => {
    const segment = new Segment({ path: join(dir, name), lane: 0, severity, files: disk.files })
    writeFileSync(segment.path, '')
    Object.assign(segment, { lastAt, bytes })
    segments.add(segment)
    return segment
  }
  return { dir, clock, disk, gaveUp, stuck, segments, make }
}

describe('the segments of an engine', () => {
  it('give up the least severe and oldest for others that are as severe, and only as many as needed', () => {
    const { gaveUp, segments, make } = setUp()
    make('young', 1, { lastAt: 20, bytes: 100 })
    make('old', 1, { lastAt: 10, bytes: 100 })
    make('severe', 4, { bytes: 300 })
    expect(segments.makeRoom(1, 500)).toBe(true)
    expect(gaveUp).toEqual([])
    expect(segments.makeRoom(1, 501)).toBe(true)
    expect(gaveUp).toEqual(['old spool-full'])
    expect(segments.makeRoom(3, 701)).toBe(false)
    expect(gaveUp.slice(1)).toEqual(['young spool-full'])
    expect(segments.makeRoom(4, 701)).toBe(true)
    expect(gaveUp.slice(2)).toEqual(['severe spool-full'])
    expect(segments.makeRoom(6, 1001)).toBe(false)
  })

  it('count the bytes of a segment until it is removed, once', () => {
    const { segments, make } = setUp()
    const segment = make('one', 1)
    segment.add(399)
    segments.grew({ segment, number: 0 })
    make('severe', 4, { bytes: 600 })
    expect(segments.makeRoom(0, 1)).toBe(false)
    for (let time = 0; time < 2; time++) segments.remove(segment)
    expect(segments.makeRoom(0, 400)).toBe(true)
    expect(segments.makeRoom(0, 401)).toBe(false)
  })

  it('give up what is older than allowed', async () => {
    const { clock, gaveUp, segments, make } = setUp()
    await clock.advance(2000)
    make('at the bound', 1, { lastAt: 1000 })
    make('beyond it', 2, { lastAt: 999 })
    segments.giveUpOld()
    expect(gaveUp).toEqual(['beyond it too-old'])
    segments.giveUpAll()
    expect(gaveUp.slice(1)).toEqual(['at the bound spool-full'])
  })

  it('leave others in their place when one that they do not have is removed', () => {
    const { dir, gaveUp, segments, make } = setUp()
    make('one', 1)
    make('two', 1)
    segments.remove(new Segment({ path: join(dir, 'stranger'), lane: 0, severity: 1 }))
    segments.giveUpAll()
    expect(gaveUp).toEqual(['one spool-full', 'two spool-full'])
  })

  it('try again to remove a file until that succeeds', () => {
    const { disk, stuck, segments, make } = setUp()
    const segment = make('one', 1)
    disk.fault = (call) => (call.startsWith('unlinkSync') ? 'EBUSY' : undefined)
    segments.remove(segment)
    segments.removeStuck()
    expect(stuck).toEqual([expect.objectContaining({ code: 'EBUSY' })])
    disk.fault = () => undefined
    segments.removeStuck()
    expect(existsSync(segment.path)).toBe(false)
    disk.calls.length = 0
    segments.removeStuck()
    expect(disk.calls).toEqual([])
  })

  it('try again for a thousand files, and for no more', () => {
    const { disk, segments, make } = setUp()
    disk.fault = (call) => (call.startsWith('unlinkSync') ? 'EBUSY' : undefined)
    for (let number = 0; number < 1001; number++) segments.remove(make(`${number}`, 1))
    disk.calls.length = 0
    segments.removeStuck()
    expect(disk.calls).toHaveLength(1000)
  })
})

describe('records that come back from segments', () => {
  const middle = lineMiddle({ kind: 'logs', bucket: 'b', severity: 2 })
  const lineOf = (number: number) =>
    spoolLine({ number, idempotencyKey: `k-${number}`, time: 0, body: '{"message":"ü"}' }, { middle })
  const place = places.left
  const lineBytes = Buffer.byteLength(lineOf(0)) + 1

  /** Two files of three records of a dead engine each. */
  async function setUpTwo() {
    const set = setUp()
    const both = [1, 2].map((name) => {
      const path = join(set.dir, `${name}`)
      writeFileSync(path, [0, 1, 2].map((number) => `${lineOf(number)}\n`).join(''))
      return new Segment({ path, lane: 0, severity: 2, files: set.disk.files })
    })
    for (const segment of both) {
      await segment.recover()
      set.segments.add(segment)
    }
    return { ...set, both }
  }

  it.each([
    ['records', { records: 4, bytes: 100_000 }, 4],
    ['no records', { records: 0, bytes: 100_000 }, 0],
    ['bytes, all of which are taken', { records: 100, bytes: 3 * lineBytes }, 3],
    ['bytes, of which one is left', { records: 100, bytes: 3 * lineBytes + 1 }, 4],
    ['no bytes', { records: 100, bytes: 0 }, 0],
    ['all', { records: 100, bytes: 100_000 }, 6],
  ])('are those for which there is room in %s', async (_, room, count) => {
    const { segments } = await setUpTwo()
    const { records, lost, emptied, error } = segments.takeBack({ lane: 0, place, room })
    expect(records).toHaveLength(count)
    for (const record of records) expect(record).toMatchObject({ body: '{"message":"ü"}', bytes: 16, severity: 2 })
    expect({ lost, emptied, error }).toEqual({ lost: 0, emptied: [], error: undefined })
  })

  it('are counted as lost where the file has them no more, and a segment without records is named', async () => {
    const { segments, both } = await setUpTwo()
    truncateSync(both[0]!.path)
    truncateSync(both[1]!.path, lineBytes)
    const { records, lost, emptied } = segments.takeBack({ lane: 0, place, room: { records: 100, bytes: 100_000 } })
    expect([records.length, lost]).toEqual([1, 5])
    expect(emptied).toEqual([both[0]])
  })

  it('stop at an error, and come with the next call', async () => {
    const { disk, segments } = await setUpTwo()
    const room = { records: 100, bytes: 100_000 }
    disk.fault = (call) => (call === 'readSync 2' ? 'EIO' : undefined)
    const { records, error } = segments.takeBack({ lane: 0, place, room })
    expect([records.length, error]).toEqual([3, expect.objectContaining({ code: 'EIO' })])
    disk.fault = () => undefined
    expect(segments.takeBack({ lane: 0, place, room }).records).toHaveLength(3)
    expect(segments.takeBack({ lane: 1, place, room }).records).toEqual([])
  })
})

describe('segments with settled records', () => {
  it('are acknowledged a tenth of a second after the first of them', async () => {
    const { clock, make } = setUp()
    let due = 0
    const settled = new SettledSegments({ clock, due: () => due++, failed: () => {} })
    settled.add(make('one', 1))
    await clock.advance(60)
    settled.add(make('two', 1))
    await clock.advance(39)
    expect(due).toBe(0)
    await clock.advance(1)
    expect(due).toBe(1)
    settled.acknowledge()
    settled.add(make('three', 1))
    settled.acknowledge()
    expect(clock.timers).toBe(0)
  })

  it('are acknowledged unless all of their records are settled, or they are gone', () => {
    const { clock, disk, make } = setUp()
    const failed: unknown[] = []
    const settled = new SettledSegments({ clock, due: () => {}, failed: (error) => failed.push(error) })
    const [part, whole, gone] = ['part.ndjson', 'whole.ndjson', 'gone.ndjson'].map((name) => make(name, 1))
    for (const segment of [part!, gone!]) segment.add(10)
    for (const segment of [part!, whole!, gone!]) {
      segment.settle(segment.add(10))
      settled.add(segment)
    }
    gone!.remove()
    disk.fault = () => 'EIO'
    expect(settled.acknowledge()).toEqual([whole])
    expect(failed).toHaveLength(1)
    disk.fault = () => undefined
    expect(settled.acknowledge()).toEqual([])
    const acknowledged = [part!, whole!, gone!].map(({ path }) => existsSync(acknowledgementsOf(path)))
    expect(acknowledged).toEqual([true, false, false])
  })
})
