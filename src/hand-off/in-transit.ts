import { isRecordCode } from './frames.js'

/** Whole lines that were handed over together. */
interface Piece {
  bytes: Buffer
  /** Number of the first record in it, and of the first after it, in the order of all that were handed over. */
  start: number
  end: number
  /** The memory of a piece that was put together from small ones, `bytes` being the end of what it holds. */
  room?: { readonly memory: Buffer; used: number }
}

/** Lines that come one by one are put together: a piece for each would take ten times the memory of its text. */
const roomBytes = 16_384
const smallBytes = 2_048

/**
 * Lines that have left the outbox and that no worker has taken. They are kept, so that the next worker gets them when this one fails.
 * A worker takes them in order and counts the records that it has taken; that count is all that is needed to know what is left.
 */
export class InTransit {
  readonly #pieces: Piece[] = []
  #end = 0
  #bytes = 0

  /** Bytes that are kept. */
  get bytes(): number {
    return this.#bytes
  }

  /** All that is kept, in order. */
  get pieces(): readonly Buffer[] {
    return this.#pieces.map(({ bytes }) => bytes)
  }

  /** Keep lines, `records` of which carry one. The bytes must not change. */
  add(bytes: Buffer, records: number): void {
    const start = this.#end
    this.#end += records
    this.#bytes += bytes.length
    const last = this.#pieces.at(-1)
    if (last !== undefined && joined(last, bytes)) last.end = this.#end
    else this.#pieces.push({ bytes, start, end: this.#end })
  }

  /** Let go of everything. */
  clear(): void {
    this.#pieces.length = 0
    this.#bytes = 0
  }

  /** So many records were taken in all: let go of the pieces that hold no others. */
  forget(taken: number): void {
    let gone = 0
    while (gone < this.#pieces.length && this.#pieces[gone]!.end <= taken) {
      this.#bytes -= this.#pieces[gone++]!.bytes.length
    }
    if (gone > 0) this.#pieces.splice(0, gone)
  }

  /** The worker that has taken so many records in all is gone: keep exactly the others. */
  trim(taken: number): void {
    this.forget(taken)
    const first = this.#pieces[0]
    if (first !== undefined) this.#cut(first, taken - first.start)
  }

  /** Give up the first record, after a {@link trim}; its line, undefined when nothing is kept. */
  giveUpFirst(): string | undefined {
    const first = this.#pieces[0]
    if (first === undefined) return undefined
    const lines = first.bytes
    this.#cut(first, 1)
    for (const piece of this.#pieces) piece.end--
    for (const piece of this.#pieces.slice(1)) piece.start--
    first.start--
    this.#end--
    this.forget(first.start)
    const gone = lines
      .subarray(0, lines.length - first.bytes.length)
      .toString()
      .trimEnd()
    return gone.slice(gone.lastIndexOf('\n') + 1)
  }

  #cut(piece: Piece, records: number): void {
    const rest = afterRecords(piece.bytes, records)
    this.#bytes -= piece.bytes.length - rest.length
    piece.bytes = rest
    piece.start += records
  }
}

/** Put lines behind those of a piece; false where they, or it, are too long for that. What others hold of the piece does not change. */
function joined(piece: Piece, lines: Buffer): boolean {
  if (lines.length > smallBytes) return false
  if (piece.room === undefined) {
    if (piece.bytes.length > smallBytes) return false
    const memory = Buffer.allocUnsafeSlow(roomBytes)
    piece.room = { memory, used: piece.bytes.copy(memory) }
    piece.bytes = memory.subarray(0, piece.room.used)
  }
  const { memory, used } = piece.room
  if (used + lines.length > memory.length) return false
  piece.room.used += lines.copy(memory, used)
  piece.bytes = memory.subarray(used - piece.bytes.length, piece.room.used)
  return true
}

/** The lines after so many that carry a record. */
function afterRecords(lines: Buffer, records: number): Buffer {
  let at = 0
  for (let left = records; left > 0 && at < lines.length; ) {
    if (isRecordCode(lines[at]!)) left--
    const end = lines.indexOf(lineEndByte, at)
    at = end === -1 ? lines.length : end + 1
  }
  return lines.subarray(at)
}

const lineEndByte = 0x0a
