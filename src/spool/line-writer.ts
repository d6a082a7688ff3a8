import { crc32 } from 'node:zlib'
import type { KeyWriter } from '../log/idempotency-key.js'
import type { Segment } from '../log/segment.js'
import { isWhole, lineMarker, recordMember, restAt } from './spool-line.js'

/** The beginning of each line. The checksum comes when the rest is there. */
const beginning = Buffer.from(`${lineMarker}00000000","n":`)
const beforeKey = Buffer.from(',"key":"')
const beforeRecord = Buffer.from(recordMember)
const [lineFeed, quote, backslash, brace] = [10, 34, 92, 125]
const digitCodes = Buffer.from('0123456789abcdef')
const mostDigits = 16
/** Memory beyond this is given back when the lines are written. */
const maxKeptBytes = 1_048_576

/** Composes the lines of records from their bytes, in memory that serves again. */
export class LineWriter {
  /** By line: the number of the record, and the position behind the line, without its line end. */
  readonly numbers: number[] = []
  readonly ends: number[] = []
  readonly #keys: KeyWriter
  #memory: Buffer = Buffer.alloc(0)
  #used = 0

  constructor(keys: KeyWriter) {
    this.#keys = keys
  }

  /** Bytes of the lines. */
  get length(): number {
    return this.#used
  }

  /** The lines, each with its line end. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#used)
  }

  /** Add the line of a record whose bytes are in memory. @param about what stands between its key and the record */
  add(segment: Segment, index: number, about: Buffer): void {
    const from = this.#used
    const memory = this.#reserve(segment, index, about)
    let at = from + beginning.copy(memory, from)
    at = writeNumber(index, memory, at)
    at += beforeKey.copy(memory, at)
    const keyBytes = segment.keyLengthOf(index)
    at =
      keyBytes === 0
        ? this.#keys.write(segment.sequenceOf(index), memory, at)
        : writeOwnKey(segment, index, { memory, at })
    memory[at++] = quote
    at += about.copy(memory, at)
    at += beforeRecord.copy(memory, at)
    at = segment.copyRun(index, 1, memory, at)
    memory[at++] = brace
    writeChecksum(memory, from + lineMarker.length, crc32(memory.subarray(from + restAt, at)))
    this.numbers.push(index)
    this.ends.push(at)
    memory[at++] = lineFeed
    this.#used = at
  }

  removeLast(): void {
    this.numbers.pop()
    this.ends.pop()
    this.#used = this.ends.length === 0 ? 0 : this.ends.at(-1)! + 1
  }

  /** Forget all lines. */
  clear(): void {
    this.numbers.length = 0
    this.ends.length = 0
    this.#used = 0
    if (this.#memory.length > maxKeptBytes) this.#memory = Buffer.alloc(0)
  }

  #reserve(segment: Segment, index: number, about: Buffer): Buffer {
    // In JSON, a character of a key takes two at most.
    const keyBytes = Math.max(this.#keys.mostBytes, 2 * segment.keyLengthOf(index))
    const fixed = beginning.length + mostDigits + beforeKey.length + beforeRecord.length + 3
    const needed = this.#used + fixed + keyBytes + about.length + segment.bytesOf(index)
    if (needed > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#memory.length, 16_384))
      this.#memory.copy(larger, 0, 0, this.#used)
      this.#memory = larger
    }
    return this.#memory
  }
}

interface Position {
  readonly memory: Buffer
  readonly at: number
}

/** Write a key that stands in the memory of its segment, as JSON. Returns the position behind it. */
function writeOwnKey(segment: Segment, index: number, { memory, at }: Position): number {
  const to = segment.startOf(index)
  let end = at
  for (let place = to - segment.keyLengthOf(index); place < to; place++) {
    const code = segment.memory[place]!
    if (code === quote || code === backslash) memory[end++] = backslash
    memory[end++] = code
  }
  return end
}

function writeNumber(number: number, memory: Buffer, at: number): number {
  let end = at + 1
  for (let rest = number; rest >= 10; rest = Math.floor(rest / 10)) end++
  for (let place = end - 1, rest = number; place >= at; place--, rest = Math.floor(rest / 10)) {
    memory[place] = digitCodes[rest % 10]!
  }
  return end
}

function writeChecksum(memory: Buffer, at: number, checksum: number): void {
  for (let place = at + 7, rest = checksum; place >= at; place--, rest >>>= 4) memory[place] = digitCodes[rest & 15]!
}

/** A line of a record in the bytes of a file. */
interface FoundLine {
  readonly bytes: Buffer
  readonly from: number
  readonly to: number
}

/**
 * Copy key, if the record has one of its own, and body of a line behind each other, as they stand in the memory of a segment. Returns the
 * position behind them; -1 for a line that is damaged, or that of another record.
 */
export function copyLine(
  { bytes, from, to }: FoundLine,
  { segment, index, memory, at }: Position & { readonly segment: Segment; readonly index: number },
): number {
  const keyBytes = segment.keyLengthOf(index)
  const bodyFrom = to - 1 - segment.bytesOf(index)
  const start = `"n":${index},"key":"`
  const keyFrom = from + restAt + start.length
  const keyTo = keyFrom + keyBytes
  if (keyTo > bodyFrom || bytes.toString('latin1', from + restAt, keyFrom) !== start) return -1
  if (bytes.toString('latin1', bodyFrom - recordMember.length, bodyFrom) !== recordMember) return -1
  if (!isWhole(bytes.subarray(from, to))) return -1
  const behindKey = keyBytes === 0 ? at : copyKey({ bytes, from: keyFrom }, { memory, at, keyBytes })
  return behindKey === -1 ? -1 : behindKey + bytes.copy(memory, behindKey, bodyFrom, to - 1)
}

/** Returns the position behind the key; -1 for one of another length, or with a byte that no key has. */
function copyKey(
  { bytes, from }: Pick<FoundLine, 'bytes' | 'from'>,
  { memory, at, keyBytes }: Position & { readonly keyBytes: number },
): number {
  const end = at + keyBytes
  let place = from
  for (let to = at; to < end; to++) {
    if (bytes[place] === backslash) place++
    const code = bytes[place++]!
    if (!(code > 32 && code < 127)) return -1
    memory[to] = code
  }
  return bytes[place] === quote ? end : -1
}
