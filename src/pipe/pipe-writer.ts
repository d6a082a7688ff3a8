import { systemClock } from '../runtime/clock.js'
import {
  aligned,
  type FrameMemory,
  frameCode,
  headBytes,
  lineWord,
  padCode,
  styleAt,
  type TextHead,
  textAt,
  valueBytes,
  valueCode,
} from './frame.js'
import { longLine } from './long-line.js'
import { Pieces } from './pieces.js'
import type { PipeBells, PipeMemory } from './pipe-memory.js'

/** The writer publishes by itself when this much is not published, at a line and at a value: while a loop tracks, the worker takes no processor from it. */
const mostUnpublished = { line: 32_768, value: 524_288 } as const
/** After so many bytes the writer looks whether the ring is empty, and goes back to its beginning: a pipe that never fills touches few pages. */
const stretchBytes = 65_536
const pieceBytes = 65_536
/** A line above this share of the ring goes in parts. */
const partsOfRing = 4
/** Bytes of UTF-8 for a UTF-16 code unit, at most. */
const bytesPerUnit = 3

/** Without the checks of `write`. Undocumented: a later version of Node.js may lack it. */
const { utf8Write = Buffer.prototype.write } = Buffer.prototype as { utf8Write?: typeof Buffer.prototype.write }

/**
 * The end of a pipe in the thread that logs. It writes frames into the ring, or, where the reader is behind, into private pieces, which
 * follow when there is room. The reader sees nothing before it is published.
 */
export class PipeWriter {
  readonly #memory: PipeMemory
  readonly #bells: PipeBells
  readonly #capacity: number
  readonly #longest: number
  readonly #pieces: Pieces
  /** Where it writes: the ring, or the last piece. */
  #ints: Int32Array
  #floats: Float64Array
  #bytes: Buffer
  #at: number
  /** Frames that end before this need no look at anything else. */
  #limit = 0
  /** True where it writes into the last piece. */
  #inPiece = false
  /** Up to here the ring is free, behind the last place where it looked. */
  #end = 0
  /** Bytes that waited for room after the last time when all was published that had some. */
  #waitingBefore = 0
  /** The reader sees the ring up to here. */
  #published: number
  /** Behind the last frame of a lap: the rest of the ring is a pad. */
  #lapEnd: number

  constructor(memory: PipeMemory, bells: PipeBells = memory.bells) {
    this.#memory = memory
    this.#bells = bells
    this.#capacity = memory.capacity
    this.#lapEnd = this.#capacity
    this.#longest = this.#capacity / partsOfRing
    // Whatever fits into a piece fits into the ring.
    this.#pieces = new Pieces(Math.min(pieceBytes, this.#longest))
    this.#published = memory.get('written')
    this.#at = this.#published
    this.#ints = memory.frames.ints
    this.#floats = memory.frames.floats
    this.#bytes = memory.frames.bytes
  }

  /** True while the ring had no room for some of the frames. */
  get waits(): boolean {
    return !this.#pieces.isEmpty
  }

  /** Bytes of the frames that the reader has not taken. */
  get bytes(): number {
    this.#tellEnd()
    const end = this.#pieces.isEmpty ? this.#at : this.#published
    const read = this.#memory.get('read')
    return (end < read ? this.#lapEnd : 0) + end - read + this.#pieces.bytes
  }

  /** Numbers, no object, few stores: the hottest path of the library. */
  value(eventId: number, milliseconds: number): void {
    if (this.#at + valueBytes > this.#limit) this.#makeRoom(valueBytes, mostUnpublished.value)
    const at = this.#at
    this.#ints[at >> 2] = valueBytes
    this.#ints[(at >> 2) + 1] = valueCode
    this.#floats[(at >> 3) + 1] = milliseconds
    this.#floats[(at >> 3) + 2] = eventId
    this.#at = at + valueBytes
  }

  /** @param key of some thousand characters at most */
  keyed(eventId: number, milliseconds: number, key: string): void {
    const most = aligned(valueBytes + key.length * bytesPerUnit)
    if (this.#at + most > this.#limit) this.#makeRoom(most, mostUnpublished.line)
    const at = this.#at
    this.#ints[(at >> 2) + 1] = frameCode.keyed
    this.#floats[(at >> 3) + 1] = milliseconds
    this.#floats[(at >> 3) + 2] = eventId
    this.#endText(valueBytes, key, most)
  }

  /** Lone surrogates become the replacement character. */
  text(head: TextHead, text: string): void {
    let most = aligned(textAt + text.length * bytesPerUnit)
    if (this.#at + most > this.#limit) {
      if (most > this.#longest) most = aligned(textAt + Buffer.byteLength(text))
      if (most > this.#longest) {
        this.#longLine(head, text)
        return
      }
      this.#makeRoom(most, mostUnpublished.line)
    }
    const at = this.#at
    this.#ints[(at >> 2) + 1] = lineWord(head)
    this.#floats[(at >> 3) + 1] = head.time
    this.#ints[(at + styleAt) >> 2] = head.style
    this.#endText(textAt, text, most)
  }

  /** Show the reader the frames for which the ring has room, and ring its bell. */
  publish(): void {
    if (!this.#pieces.isEmpty) this.#movePieces()
    else if (this.#showRing()) this.#bells.bell.ring()
    this.#waitingBefore = this.#pieces.bytes
  }

  /**
   * Publish all. Holds this thread until the ring has had room for it, for `waitMs` at most.
   *
   * @returns false while some of it waits
   */
  push(waitMs: number): boolean {
    const until = systemClock.now() + waitMs
    for (;;) {
      this.publish()
      if (this.#pieces.isEmpty) return true
      if (
        !this.#bells.room.wait(
          () => this.#place(this.#published, this.#pieces.firstBytes) !== -1,
          until - systemClock.now(),
        )
      )
        return false
    }
  }

  #endText(textFrom: number, text: string, most: number): void {
    const at = this.#at
    const size = textFrom + utf8Write.call(this.#bytes, text, at + textFrom, most)
    this.#ints[at >> 2] = size
    this.#at = at + aligned(size)
  }

  #longLine(head: TextHead, text: string): void {
    if (this.#pieces.isEmpty) this.#showRing()
    this.#tellEnd()
    this.#pieces.add(longLine(head, text, this.#longest - 2 * headBytes))
    this.#inPiece = false
    this.#limit = 0
    this.#movePieces()
  }

  /** Find room for a frame, wherever there is some. */
  #makeRoom(bytes: number, most: number): void {
    this.#tellEnd()
    const gathered = this.#pieces.isEmpty ? this.#unpublished : this.#pieces.bytes - this.#waitingBefore
    if (gathered + bytes > most) this.publish()
    if (this.#hasRoom(bytes)) return
    // It comes before what waits. The bell rings when that is published.
    if (this.#pieces.isEmpty) this.#showRing()
    this.#tellEnd()
    const piece = this.#pieces.begin(bytes)
    this.#inPiece = true
    this.#writeTo(piece, 0)
    this.#limit = piece.bytes.length
  }

  #hasRoom(bytes: number): boolean {
    return this.#at + bytes <= this.#limit || (this.#pieces.isEmpty && this.#enterRing(bytes))
  }

  #enterRing(bytes: number): boolean {
    const at = this.#place(this.#at, bytes)
    if (at === -1) return false
    this.#at = at
    this.#end = Math.min(this.#end, at + Math.max(bytes, stretchBytes))
    this.#limit = Math.min(
      this.#end,
      at + Math.max(bytes, mostUnpublished.line - (this.#unpublished % mostUnpublished.line)),
    )
    return true
  }

  /** Where in the ring a frame has room: at `at`, or else at the beginning; -1 without room. Sets `#end`. */
  #place(at: number, bytes: number): number {
    const read = this.#memory.get('read')
    const start = at === this.#capacity ? 0 : at
    const isFreeBefore = read <= start && bytes < read
    if (read <= start) this.#lapEnd = this.#capacity
    this.#end = read > start ? read - 8 : this.#capacity - (read === 0 ? 8 : 0)
    // An empty ring begins again.
    const restarts = isFreeBefore && read === start && start >= stretchBytes
    if (start + bytes <= this.#end && !restarts) return start
    if (!isFreeBefore) return -1
    pad(this.#memory.frames.ints, start, this.#capacity - start)
    this.#lapEnd = start
    this.#end = read - 8
    return 0
  }

  #movePieces(): void {
    while (!this.#pieces.isEmpty) {
      this.#tellEnd()
      const at = this.#place(this.#published, this.#pieces.firstBytes)
      if (at === -1) {
        this.#bells.bell.ring()
        return
      }
      const behind = this.#pieces.moveInto(this.#memory.frames.bytes, at, this.#end - at)
      this.#show(behind)
      if (this.#pieces.isEmpty) this.#returnToRing()
      // Last: where the bell is a call, it may lead to records.
      this.#bells.bell.ring()
    }
  }

  #returnToRing(): void {
    this.#inPiece = false
    this.#writeTo(this.#memory.frames, this.#published)
    this.#end = this.#at
    this.#limit = this.#at
  }

  #writeTo({ ints, floats, bytes }: FrameMemory, at: number): void {
    this.#ints = ints
    this.#floats = floats
    this.#bytes = bytes
    this.#at = at
  }

  /** False where the reader has seen all that is in the ring. */
  #showRing(): boolean {
    if (this.#at === this.#published) return false
    this.#show(this.#at)
    this.#at = this.#published
    // It went on at the beginning, where nobody has looked yet.
    if (this.#at === 0) this.#end = 0
    this.#limit = Math.min(this.#end, this.#at + mostUnpublished.line)
    return true
  }

  #show(behind: number): void {
    this.#published = behind === this.#capacity ? 0 : behind
    this.#memory.set('written', this.#published)
  }

  #tellEnd(): void {
    if (this.#inPiece) this.#pieces.endsAt(this.#at)
  }

  get #unpublished(): number {
    return (this.#at - this.#published + this.#capacity) % this.#capacity
  }
}

function pad(ints: Int32Array, at: number, bytes: number): void {
  ints[at >> 2] = bytes
  ints[(at >> 2) + 1] = padCode
}
