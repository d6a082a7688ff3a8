import type { LedgerBook } from '../delivery/ledger-book.js'
import { isRecord, isRecordCode, lineEnd } from './frames.js'

/** Whole lines in one piece of memory. */
interface Piece {
  bytes: Buffer
  /** Number of its first record, and of the first record behind it. The records of an engine are numbered in the order of hand-over. */
  start: number
  end: number
  /** The memory of a piece that was joined from small ones. `bytes` is the last part of it. */
  room?: { readonly memory: Buffer; used: number }
}

/** Small pieces are joined: a piece for each line would take ten times the memory of its text. */
const roomBytes = 16_384
const smallBytes = 2_048

/**
 * The lines that have left the outbox and that no worker has taken. When a worker fails, the next one gets them.
 *
 *     outbox ─ add ─▶ │ piece │ piece │ piece │ ─▶ worker
 *
 * A worker takes lines in order and counts their records in the ledger. That count says which lines are left.
 */
export class InTransit {
  readonly #book: Pick<LedgerBook, 'taken'>
  readonly #pieces: Piece[] = []
  #end = 0
  #bytes = 0

  /** @param book its `taken` is the number of records that workers have taken so far */
  constructor(book: Pick<LedgerBook, 'taken'>) {
    this.#book = book
  }

  /** Bytes of the lines that no worker has taken. Pieces that were taken whole are removed first. */
  get bytes(): number {
    this.#forget()
    return this.#bytes
  }

  get pieces(): readonly Buffer[] {
    return this.#pieces.map(({ bytes }) => bytes)
  }

  /** Keep lines that carry `records` records. The bytes must not change. */
  add(bytes: Buffer, records: number): void {
    const start = this.#end
    this.#end += records
    this.#bytes += bytes.length
    const last = this.#pieces.at(-1)
    if (last !== undefined && joined(last, bytes)) last.end = this.#end
    else this.#pieces.push({ bytes, start, end: this.#end })
  }

  /** Remove everything. Returns the lines that carry a record. */
  removeAll(): string[] {
    const lines = this.#pieces.flatMap(({ bytes }) => bytes.toString().split(lineEnd).filter(isRecord))
    this.clear()
    return lines
  }

  clear(): void {
    this.#pieces.length = 0
    this.#bytes = 0
  }

  /** The worker is gone: remove exactly the records that it has taken. */
  trim(): void {
    this.#forget()
    const first = this.#pieces[0]
    if (first !== undefined) this.#cut(first, this.#book.taken - first.start)
  }

  /** Remove the first record, after a {@link trim}. Returns its line; undefined when there is none. */
  removeFirst(): string | undefined {
    const first = this.#pieces[0]
    if (first === undefined) return undefined
    const lines = first.bytes
    this.#cut(first, 1)
    for (const piece of this.#pieces) piece.end--
    for (const piece of this.#pieces.slice(1)) piece.start--
    first.start--
    this.#end--
    this.#forget()
    const gone = lines
      .subarray(0, lines.length - first.bytes.length)
      .toString()
      .trimEnd()
    return gone.slice(gone.lastIndexOf('\n') + 1)
  }

  #forget(): void {
    const { taken } = this.#book
    let gone = 0
    while (gone < this.#pieces.length && this.#pieces[gone]!.end <= taken) {
      this.#bytes -= this.#pieces[gone++]!.bytes.length
    }
    if (gone > 0) this.#pieces.splice(0, gone)
  }

  #cut(piece: Piece, records: number): void {
    const rest = afterRecords(piece.bytes, records)
    this.#bytes -= piece.bytes.length - rest.length
    piece.bytes = rest
    piece.start += records
  }
}

/** Append lines to a piece. False where one of both is too long. Buffers that were returned before do not change. */
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

/** The lines behind the first `records` lines that carry a record. */
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
