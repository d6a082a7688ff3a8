import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { nodeFiles } from '../../src/runtime/files.js'
import { Acknowledgements, acknowledgementsOf } from '../../src/spool/acknowledgements.js'
import { LineScanner } from '../../src/spool/line-scanner.js'
import { SegmentWriter } from '../../src/spool/open-segments.js'
import { places, Segment } from '../../src/spool/segment.js'
import { lineMarker, lineMiddle, readSpoolLine, spoolLine } from '../../src/spool/spool-line.js'
import { full } from '../support/full.js'

const folder = mkdtempSync(join(tmpdir(), 'sluice-recovery-'))
afterAll(() => rmSync(folder, { recursive: true }))

const middle = lineMiddle({ kind: 'logs', bucket: 'büro "1"', severity: 4 })
const messages = [
  'plain',
  'ünïcode 🚰 “quotes”',
  `quoted ${lineMarker}0badc0de","record":{`,
  '',
  'a\nb\u0000\u2028',
  'last',
]
const bodies = messages.map((message, index) => JSON.stringify({ timeStamp: index, level: 'error', message }))

/** A segment with these records, and the place of each. */
function writeSegment(name: string) {
  const path = join(folder, name)
  const writer = new SegmentWriter(path, nodeFiles)
  const ranges: { start: number; end: number }[] = []
  let start = 0
  bodies.forEach((body, number) => {
    const line = spoolLine({ number, idempotencyKey: `k-${number}`, time: 1000 + number, body }, { middle })
    writer.add(line)
    ranges.push({ start, end: start + Buffer.byteLength(line) })
    start += Buffer.byteLength(line) + 1
  })
  writer.commit({ sync: false })
  writer.close()
  return { path, bytes: readFileSync(path), ranges }
}

const acknowledged = (path: string) => new Acknowledgements(path, nodeFiles).read()
const segment = writeSegment('segment.ndjson')

function recovered(bytes: Buffer, pieceBytes = bytes.length): (readonly [number, string])[] {
  const scanner = new LineScanner(readSpoolLine)
  const found = []
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    found.push(...scanner.push(bytes.subarray(start, start + pieceBytes)))
  }
  return [...found, ...scanner.end()].map(({ line }) => [line.number, line.body] as const)
}

const intact = (isIntact: (range: { start: number; end: number }) => boolean) =>
  bodies.flatMap((body, number) => (isIntact(segment.ranges[number]!) ? [[number, body] as const] : []))

describe('a damaged segment', () => {
  it('has lines of JSON with the record as it was accepted', () => {
    const lines = segment.bytes.toString().trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).record)).toEqual(bodies.map((body) => JSON.parse(body)))
    expect(JSON.parse(lines[0]!)).toMatchObject({
      n: 0,
      key: 'k-0',
      time: 1000,
      kind: 'logs',
      bucket: 'büro "1"',
      severity: 4,
    })
  })

  it('gives every whole record and no other, whichever byte it was cut at', async () => {
    const path = join(folder, 'cut.ndjson')
    for (let length = 0; length <= segment.bytes.length; length += full ? 1 : 7) {
      const expected = intact(({ end }) => end <= length)
      expect(recovered(segment.bytes.subarray(0, length)), `cut at ${length}`).toEqual(expected)
      writeFileSync(path, segment.bytes.subarray(0, length))
      const cut = new Segment({ path, lane: 0, severity: 4 })
      await cut.recover()
      const numbers = cut.oldest(places.left)
      const read = cut.read(numbers).map(({ number, line }) => [number, line?.body])
      expect(read, `cut at ${length}`).toEqual(expected)
    }
  })

  it('gives every whole record and no other, whichever bit was flipped', () => {
    for (let bit = 0; bit < segment.bytes.length * 8; bit++) {
      const at = bit >> 3
      const bytes = Buffer.from(segment.bytes)
      bytes[at]! ^= 1 << (bit & 7)
      expect(recovered(bytes), `bit ${bit}`).toEqual(intact(({ start, end }) => at < start || at >= end))
    }
  })

  it('gives every whole record when a piece is missing anywhere', () => {
    for (let from = 0; from < segment.bytes.length; from += 7) {
      for (const size of [1, 13, 200]) {
        const bytes = Buffer.concat([segment.bytes.subarray(0, from), segment.bytes.subarray(from + size)])
        const found = recovered(bytes)
        const possible = intact(({ start, end }) => end <= from || start >= from + size)
        expect(possible, `${size} bytes missing from ${from}`).toEqual(expect.arrayContaining(found))
        // A line without its line end may run into the remains after it.
        const certain = intact(({ start, end }) => end < from || start >= from + size)
        expect(found, `${size} bytes missing from ${from}`).toEqual(expect.arrayContaining(certain))
      }
    }
  })

  it('gives the same records in pieces of any size', () => {
    for (const pieceBytes of [1, 7, 64, 1000]) {
      expect(recovered(segment.bytes, pieceBytes)).toEqual(intact(() => true))
    }
  })

  it('counts the damaged places, and gives the records after half a line', async () => {
    const half = segment.bytes.subarray(0, 50)
    const path = join(folder, 'torn.ndjson')
    writeFileSync(path, Buffer.concat([half, segment.bytes, Buffer.alloc(100)]))
    const torn = new Segment({ path, lane: 0, severity: 4 })
    expect(await torn.recover()).toEqual({ damaged: 2, newest: 1000 + bodies.length - 1 })
    expect(torn.count(places.left)).toBe(bodies.length)
  })
})

describe('damaged acknowledgements', () => {
  const path = join(folder, 'acknowledged.ndjson')
  const batches = [[0, 1, 2, 5], [12], [7, 8]]
  for (const batch of batches) new Acknowledgements(path, nodeFiles).add(batch)
  const bytes = readFileSync(acknowledgementsOf(path))
  const expand = (ranges: Iterable<readonly [number, number]>) =>
    [...ranges].flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index))

  it('name the settled records when nothing is damaged', () => {
    expect(expand(acknowledged(path))).toEqual(batches.flat())
  })

  it('name no other record, whichever bit was flipped and wherever they were cut', () => {
    const known = new Set(batches.flat())
    const damaged = join(folder, 'damaged.ndjson')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      writeFileSync(acknowledgementsOf(damaged), changed)
      const said = expand(acknowledged(damaged))
      expect(
        said.filter((number) => !known.has(number)),
        `bit ${bit}`,
      ).toEqual([])
      expect(said.length).toBeGreaterThanOrEqual(batches.flat().length - 4)
    }
    for (let length = 0; length < bytes.length; length++) {
      writeFileSync(acknowledgementsOf(damaged), bytes.subarray(0, length))
      expect(
        expand(acknowledged(damaged)).filter((number) => !known.has(number)),
        `cut at ${length}`,
      ).toEqual([])
    }
  })
})
