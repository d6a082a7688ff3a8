import { existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeFiles } from '../../src/runtime/files.js'
import { acknowledgementsOf } from '../../src/spool/acknowledgements.js'
import { places, Segment } from '../../src/spool/segment.js'
import { lineMiddle, spoolLine } from '../../src/spool/spool-line.js'
import { spoolFolder } from '../support/spool.js'
import { WatchedFiles } from '../support/watched-files.js'

const middle = lineMiddle({ kind: 'logs', bucket: 'b', severity: 2 })
const lineOf = (number: number, text: string) =>
  spoolLine({ number, idempotencyKey: 'key', time: 1000 + number, body: JSON.stringify({ message: text }) }, { middle })

/** A segment of a dead engine with these lines. */
async function setUp(lines: readonly string[]) {
  const path = join(spoolFolder(), 'folder', 'file.ndjson')
  mkdirSync(dirname(path))
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
  const disk = new WatchedFiles()
  const segment = new Segment({ path, lane: 0, severity: 2, files: disk.files })
  const recovery = await segment.recover()
  return { path, acks: acknowledgementsOf(path), disk, segment, recovery }
}

const five = [0, 1, 2, 3, 4].map((number) => lineOf(number, 'text'))
const lineBytes = five[0]!.length
const many = { records: 1000, bytes: 1_000_000 }

describe('the oldest records of a segment', () => {
  it('are as many as there is room for', async () => {
    const { segment } = await setUp(five)
    const { left } = places
    expect(segment.oldest(left, many)).toEqual([0, 1, 2, 3, 4])
    expect(segment.oldest(left, { ...many, records: 2 })).toEqual([0, 1])
    const three = 3 * lineBytes + 2
    expect(segment.oldest(left, { ...many, bytes: three })).toEqual([0, 1, 2])
    expect(segment.oldest(left, { ...many, bytes: three - 1 })).toEqual([0, 1])
    expect(segment.oldest(left, { ...many, bytes: 1 })).toEqual([0])
    for (const number of [0, 2]) segment.move(number, places.memory)
    expect(segment.oldest(left, { ...many, bytes: three })).toEqual([1, 3])
    expect(segment.oldest(places.memory, many)).toEqual([0, 2])
    expect(segment.oldest(places.disk, many)).toEqual([])
    segment.move(0, places.left)
    expect(segment.oldest(left, many)).toEqual([0, 1, 3, 4])
  })

  it('are no more than half a megabyte, however much room there is', async () => {
    const { segment } = await setUp([0, 1, 2].map((number) => lineOf(number, 'x'.repeat(200_000))))
    expect(segment.oldest(places.left, { records: 1000, bytes: 10_000_000 })).toEqual([0, 1])
  })
})

describe('reading records of a segment', () => {
  const numbersIn = (reread: ReturnType<Segment['read']>) => reread.map(({ line }) => line?.number)

  it('gives them in pieces of any size, and closes the file', async () => {
    const { disk, segment } = await setUp(five)
    disk.files.readSync = (file, bytes, offset, length, position) =>
      nodeFiles.readSync(file, bytes, offset, Math.min(length, 7), position)
    disk.calls.length = 0
    expect(numbersIn(segment.read([1, 2, 4]))).toEqual([1, 2, 4])
    expect(disk.calls.at(-1)).toBe('closeSync file.ndjson')
    expect(segment.read([])).toEqual([])
  })

  it('gives none that the file does not have any more', async () => {
    const { path, segment } = await setUp(five)
    truncateSync(path, 2 * (lineBytes + 1) + 5)
    expect(numbersIn(segment.read([0, 1, 2, 3]))).toEqual([0, 1, undefined, undefined])
    rmSync(path)
    expect(numbersIn(segment.read([0, 1]))).toEqual([undefined, undefined])
  })

  it('gives none that another number has taken the place of', async () => {
    const { path, segment } = await setUp(five)
    writeFileSync(path, [five[0], five[3]].map((line) => `${line}\n`).join(''))
    expect(numbersIn(segment.read([0, 1]))).toEqual([0, undefined])
  })

  it('throws what else the file system does, and closes the file', async () => {
    const { disk, segment } = await setUp(five)
    disk.fault = (call) => (call.startsWith('openSync') ? 'EMFILE' : undefined)
    expect(() => segment.read([0])).toThrow('EMFILE')
    disk.fault = (call) => (call.startsWith('readSync') ? 'EIO' : undefined)
    expect(() => segment.read([0])).toThrow('EIO')
    expect(disk.calls.at(-1)).toBe('closeSync file.ndjson')
  })
})

describe('a segment that was left', () => {
  it('has the size of its file, and the time of its newest record', async () => {
    const { path, segment, recovery } = await setUp(five)
    expect(segment.bytes).toBe(statSync(path).size)
    expect(segment.bytesOf(3)).toBe(lineBytes + 1)
    expect(recovery).toEqual({ damaged: 0, newest: 1004 })
    expect(segment.count(places.left)).toBe(5)
  })

  it('has no lines beyond the highest number, and none out of order', async () => {
    const numbers = [1, 1, 0, 1_048_576, 1_048_575]
    const { segment, recovery } = await setUp(numbers.map((number) => lineOf(number, 'text')))
    expect(recovery.damaged).toBe(3)
    expect(segment.length).toBe(1_048_576)
    expect(segment.count(places.left)).toBe(2)
  })

  it('is settled where its acknowledgements say so, even beyond its end', async () => {
    const { acks, path } = await setUp(five)
    const other = new Segment({ path, lane: 0, severity: 2 })
    for (let number = 0; number < 5; number++) other.add(1)
    for (const number of [1, 4]) other.settle(number)
    other.acknowledge()
    expect(readFileSync(acks, 'utf8')).toMatch(/"settled":"1,4"/)
    const again = new Segment({ path, lane: 0, severity: 2 })
    await again.recover()
    expect(again.oldest(places.left, many)).toEqual([0, 2, 3])
    for (let number = 5; number < 9; number++) other.add(1)
    for (const number of [0, 2, 3, 5, 6, 7, 8]) other.settle(number)
    other.acknowledge()
    const settled = new Segment({ path, lane: 0, severity: 2 })
    await settled.recover()
    expect([settled.settled, settled.count(places.settled), settled.length]).toEqual([true, 5, 5])
    expect(Object.values(places).map((place) => settled.count(place))).toEqual([0, 0, 0, 5])
  })
})

describe('the acknowledgements of a segment', () => {
  it('name up to 1,024 records a line, and each once', async () => {
    const { acks, segment } = await setUp([])
    for (let number = 0; number < 1025; number++) segment.settle(segment.add(10))
    segment.acknowledge()
    segment.acknowledge()
    const ranges = [...readFileSync(acks, 'utf8').matchAll(/"settled":"([^"]*)"/g)].map(([, range]) => range)
    expect(ranges).toEqual(['0-1023', '1024'])
  })

  it('come with the next ones when the disk failed', async () => {
    const { acks, disk, segment } = await setUp([])
    segment.settle(segment.add(10))
    disk.fault = () => 'EIO'
    expect(() => segment.acknowledge()).toThrow('EIO')
    disk.fault = () => undefined
    segment.settle(segment.add(10))
    segment.acknowledge()
    expect(readFileSync(acks, 'utf8')).toMatch(/"settled":"0-1"/)
  })
})

describe('a segment that is removed', () => {
  it('takes its acknowledgements with it, and needs neither file', async () => {
    const { acks, path, segment } = await setUp(five)
    writeFileSync(acks, '')
    expect(segment.gone).toBe(false)
    expect(segment.remove()).toBeUndefined()
    expect([segment.gone, existsSync(path), existsSync(acks)]).toEqual([true, false, false])
    expect(segment.remove()).toBeUndefined()
  })

  it('may have been in a folder that is a file by now', async () => {
    const { path, segment } = await setUp(five)
    rmSync(dirname(path), { recursive: true })
    writeFileSync(dirname(path), '')
    expect(segment.remove()).toBeUndefined()
  })

  it('has all records acknowledged, once, while its file cannot be removed', async () => {
    const { acks, disk, segment } = await setUp(five)
    disk.fault = (call) => (call.startsWith('unlinkSync') ? 'EBUSY' : undefined)
    for (let time = 0; time < 2; time++) expect(segment.remove()).toMatchObject({ code: 'EBUSY' })
    expect(segment.gone).toBe(true)
    const text = readFileSync(acks, 'utf8')
    expect(text.match(/"settled":"[^"]*"/g)).toEqual(['"settled":"0-4"'])
  })

  it('says that its acknowledgements cannot be removed', async () => {
    const { acks, disk, segment } = await setUp(five)
    writeFileSync(acks, '')
    disk.fault = (call) => (call === 'unlinkSync file.acks' ? 'EBUSY' : undefined)
    expect(segment.remove()).toMatchObject({ code: 'EBUSY' })
  })
})
