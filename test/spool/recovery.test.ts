import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { KeyWriter } from '../../src/log/idempotency-key.js'
import { Segment } from '../../src/log/segment.js'
import { nodeFiles } from '../../src/runtime/files.js'
import { Acknowledgements, acknowledgementsOf } from '../../src/spool/acknowledgements.js'
import { LineWriter } from '../../src/spool/line-writer.js'
import { lineMarker, lineMiddle, spoolLine } from '../../src/spool/spool-line.js'
import { SpooledSegment } from '../../src/spool/spooled-segment.js'
import { full } from '../support/full.js'
import { addRecord, loadAll, NotedLog } from '../support/noted-log.js'

const folder = mkdtempSync(join(tmpdir(), 'sluice-recovery-'))
afterAll(() => rmSync(folder, { recursive: true }))

const name = { kind: 'logs', bucket: 'büro "1"', severity: 4 } as const
const middle = lineMiddle(name)
const messages = [
  'plain',
  'ünïcode 🚰 “quotes”',
  `quoted ${lineMarker}0badc0de","record":{`,
  '',
  'a\nb\u0000\u2028',
  'last',
]
const bodies = messages.map((message, index) => JSON.stringify({ timeStamp: index, level: 'error', message }))
const ownKeys = ['', 'own', '', '"quoted" \\'.replace(' ', '-'), '', '']
const keyOf = (index: number) => ownKeys[index] || `engine-${index.toString(36)}`

function fileOf(segment: Segment) {
  const file = new SpooledSegment({
    segment,
    adopted: false,
    files: nodeFiles,
    settled: () => {},
    empty: () => {},
    failedToRead: (error) => {
      throw error
    },
  })
  segment.file = file
  return file
}

/** A segment whose records are written to a file, and are on disk alone. */
function writeSegment(path: string) {
  const segment = new Segment(new NotedLog(4))
  for (const [index, body] of bodies.entries()) addRecord(segment, body, { key: ownKeys[index]! })
  const lines = new LineWriter(new KeyWriter('engine'))
  const about = Buffer.from(`,"time":1000${middle}`)
  const file = fileOf(segment)
  expect(file.commit({ lines, about, room: 100_000, sync: false, path: () => path })).toBe(undefined)
  file.close()
  segment.log.evict(segment)
  return segment
}

const written = join(folder, 'written.ndjson')
const bytes = (() => {
  writeSegment(written)
  return readFileSync(written)
})()

/** Where the line of each record stands. */
const ranges = (() => {
  let start = 0
  return bodies.map(() => {
    const end = bytes.indexOf('}\n', start) + 1
    const range = { start, end }
    start = end + 1
    return range
  })
})()

const path = join(folder, 'damaged.ndjson')

/** The records that a file with such bytes gives, with their numbers. */
function recovered(damaged: Buffer) {
  writeFileSync(path, damaged)
  const segment = new Segment(new NotedLog(4))
  const facts = fileOf(segment).recover(path, { belongs: ({ bucket }) => bucket === name.bucket, above: 0 })
  const numbers = [...segment.states.subarray(0, segment.count).keys()].filter((index) => segment.states[index] !== 0)
  const texts = loadAll(segment)
  return { ...facts, segment, records: texts.map((text, index) => [numbers[index]!, text] as const) }
}

/** The file with each of its bits flipped in turn; of each byte one bit, unless there is time for all. */
function* flipped() {
  for (let bit = 0; bit < bytes.length * 8; bit += full ? 1 : 9) {
    const at = bit >> 3
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1 << (bit & 7)
    yield { at, changed }
  }
}

const intact = (isIntact: (range: { start: number; end: number }) => boolean) =>
  bodies.flatMap((body, number) => (isIntact(ranges[number]!) ? [[number, keyOf(number) + body] as const] : []))

describe('the lines of a file', () => {
  it('are those that a person and `sluice replay` can read, byte for byte', () => {
    const lines = bodies.map((body, number) =>
      spoolLine({ number, idempotencyKey: keyOf(number), time: 1000, body }, { middle }),
    )
    expect(bytes.toString()).toBe(`${lines.join('\n')}\n`)
  })

  it('give the records back to the engine that has written them, with the keys that are their own', () => {
    expect(loadAll(writeSegment(join(folder, 'read-back.ndjson')))).toEqual(
      bodies.map((body, index) => ownKeys[index]! + body),
    )
  })
})

describe('a file that a dead engine has left', () => {
  it('gives each record with its key, and the time of the newest', () => {
    const { damaged, newest, records } = recovered(bytes)
    expect([damaged, newest]).toEqual([0, 1000])
    expect(records).toEqual(intact(() => true))
  })

  it('gives every whole record and no other, whichever byte it was cut at', () => {
    for (let length = 0; length <= bytes.length; length++) {
      const { records } = recovered(bytes.subarray(0, length))
      expect(records, `cut at ${length}`).toEqual(intact(({ end }) => end <= length))
    }
  })

  it('gives every whole record and no other, whichever bit was flipped', () => {
    for (const { at, changed } of flipped()) {
      const { records } = recovered(changed)
      expect(records, `byte ${at}`).toEqual(intact(({ start, end }) => at < start || at >= end))
    }
  })

  it('gives every whole record and no other when a piece is missing anywhere', () => {
    for (let from = 0; from < bytes.length; from += full ? 1 : 7) {
      for (const size of [1, 13, 200]) {
        const { records } = recovered(Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + size)]))
        const words = `${size} bytes missing from ${from}`
        expect(
          intact(({ start, end }) => end <= from || start >= from + size),
          words,
        ).toEqual(expect.arrayContaining(records))
        // A line without its line end may run into the remains after it.
        const certain = intact(({ start, end }) => end < from || start >= from + size)
        expect(records, words).toEqual(expect.arrayContaining(certain))
      }
    }
  })

  it('counts the damaged places, and gives the records after half a line', () => {
    const { damaged, records } = recovered(Buffer.concat([bytes.subarray(0, 50), bytes, Buffer.alloc(100)]))
    expect(damaged).toBe(2)
    expect(records).toEqual(intact(() => true))
  })

  it('gives no line of another bucket, none twice, and none of a number that no spool writes', () => {
    const foreign = spoolLine(
      { number: 7, idempotencyKey: 'k', time: 1, body: '{}' },
      { middle: lineMiddle({ ...name, bucket: 'other' }) },
    )
    const late = spoolLine({ number: 2 ** 20, idempotencyKey: 'k', time: 1, body: '{}' }, { middle })
    const { damaged, records } = recovered(Buffer.concat([bytes, bytes, Buffer.from(`${foreign}\n${late}\n`)]))
    expect(damaged).toBe(bodies.length + 2)
    expect(records).toEqual(intact(() => true))
  })

  it('gives none that is acknowledged', () => {
    new Acknowledgements(path, nodeFiles).add([1, 2, 5])
    const { records } = recovered(bytes)
    rmSync(acknowledgementsOf(path))
    expect(records.map(([number]) => number)).toEqual([0, 3, 4])
  })

  it('keeps its order when the clock was set back while it was written', () => {
    const lines = [5000, 1000, 6000].map((time, number) =>
      spoolLine({ number, idempotencyKey: `k${number}`, time, body: '{}' }, { middle }),
    )
    const { segment, newest } = recovered(Buffer.from(lines.join('\n')))
    expect([0, 1, 2].map((index) => segment.sequenceOf(index))).toEqual([5000, 5000, 6000])
    expect(newest).toBe(6000)
  })
})

describe('a file with times that no clock can have meant', () => {
  it('keeps its order', () => {
    const lines = [1000, 2 ** 40, 2 ** 45].map((time, number) =>
      spoolLine({ number, idempotencyKey: `k${number}`, time, body: '{}' }, { middle }),
    )
    const { segment } = recovered(Buffer.from(lines.join('\n')))
    const sequences = [0, 1, 2].map((index) => segment.sequenceOf(index))
    expect(sequences).toEqual([1000, 1000 + 2 ** 32 - 1, 1000 + 2 ** 32 - 1])
  })
})

describe('a line that is damaged after its record has left memory', () => {
  it('is lost, whichever bit was flipped, and no other record is', () => {
    const own = join(folder, 'own.ndjson')
    for (const { at, changed } of flipped()) {
      rmSync(own, { force: true })
      const segment = writeSegment(own)
      writeFileSync(own, changed)
      const hit = ranges.findIndex(({ start, end }) => at >= start && at < end)
      const expected = bodies.map((body, index) => (index === hit ? undefined : ownKeys[index]! + body))
      expect(loadAll(segment), `byte ${at}`).toEqual(expected)
    }
  })

  it('is lost with all others when the file is gone', () => {
    const own = join(folder, 'gone.ndjson')
    const segment = writeSegment(own)
    rmSync(own)
    expect(loadAll(segment)).toEqual(bodies.map(() => undefined))
  })
})
