import { systemClock } from '../runtime/clock.js'
import {
  aligned,
  frameCode,
  headBytes,
  lineWord,
  padCode,
  styleAt,
  type TextHead,
  textAt,
  valueBytes,
  valueHead,
} from './frame.js'
import { longLine } from './long-line.js'
import { Pieces } from './pieces.js'
import type { PipeBells, PipeMemory } from './pipe-memory.js'

/** The writer publishes by itself when this much waits, at a line and at a value: while a loop tracks, the worker takes no processor from it. */
const mostUnpublished = { line: 32_768, value: 524_288 } as const
/** A line above this share of the ring goes in parts. */
const partsOfRing = 4
/** Bytes of UTF-8 for a UTF-16 code unit, at most. */
const bytesPerUnit = 3

/** Without the checks of `write`. Undocumented: a later version of Node.js may lack it. */
const { utf8Write = Buffer.prototype.write } = Buffer.prototype as { utf8Write?: typeof Buffer.prototype.write }

/**
 * The end of a pipe in the thread that logs. It writes frames into private pieces, and copies them into the ring when they are published. Memory
 * that the other thread has just read is slow to write: a frame in a piece takes half the time.
 */
export class PipeWriter {
  readonly #memory: PipeMemory
  readonly #bells: PipeBells
  readonly #capacity: number
  readonly #longest: number
  readonly #pieces = new Pieces()
  /** Of the last piece, where it writes. */
  #ints: Int32Array
  #floats: Float64Array
  #bytes: Buffer
  #at = 0
  /** Frames that end before this have room there. */
  #limit = 0
  /** Bytes that waited for room after the last time when all was published that had some. */
  #waitingBefore = 0
  /** The reader sees the ring up to here. */
  #published: number
  /** Up to here the ring is free, behind the last place where it looked. */
  #end = 0
  /** Behind the last frame of a lap: the rest of the ring is a pad. */
  #lapEnd: number

  constructor(memory: PipeMemory, bells: PipeBells = memory.bells) {
    this.#memory = memory
    this.#bells = bells
    this.#capacity = memory.capacity
    this.#lapEnd = this.#capacity
    this.#longest = this.#capacity / partsOfRing
    this.#published = memory.get('written')
    this.#ints = memory.frames.ints
    this.#floats = memory.frames.floats
    this.#bytes = memory.frames.bytes
  }

  /** True while frames are not in the ring: after {@link publish} for want of room. */
  get waits(): boolean {
    return !this.#pieces.isEmpty
  }

  /** Bytes of the frames that the reader has not taken. */
  get bytes(): number {
    this.#tellEnd()
    const end = this.#published
    const read = this.#memory.get('read')
    return (end < read ? this.#lapEnd : 0) + end - read + this.#pieces.bytes
  }

  /** Numbers, no object, few stores: the hottest path of the library. */
  value(eventId: number, milliseconds: number): void {
    if (this.#at + valueBytes > this.#limit) this.#makeRoom(valueBytes, mostUnpublished.value)
    const at = this.#at
    const place = at >> 3
    this.#floats[place] = valueHead
    this.#floats[place + 1] = milliseconds
    this.#floats[place + 2] = eventId
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
    if (most > this.#longest) most = aligned(textAt + Buffer.byteLength(text))
    if (most > this.#longest) {
      this.#longLine(head, text)
      return
    }
    if (this.#at + most > this.#limit) this.#makeRoom(most, mostUnpublished.line)
    const at = this.#at
    this.#ints[(at >> 2) + 1] = lineWord(head)
    this.#floats[(at >> 3) + 1] = head.time
    this.#ints[(at + styleAt) >> 2] = head.style
    this.#endText(textAt, text, most)
  }

  /** Show the reader the frames for which the ring has room, and ring its bell. */
  publish(): void {
    if (this.#show()) this.#bells.bell.ring()
  }

  /** Show them, and ring where the reader would not look by itself. */
  offer(): void {
    if (this.#show() && (this.#memory.get('rests') === 1 || this.waits)) this.#bells.bell.ring()
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
      if (!this.#bells.room.wait(() => this.#place(this.#pieces.firstBytes) !== -1, until - systemClock.now()))
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
    this.#tellEnd()
    this.#pieces.add(longLine(head, text, this.#longest - 2 * headBytes))
    this.#limit = 0
    this.publish()
  }

  /** Find room for a frame in a piece. */
  #makeRoom(bytes: number, most: number): void {
    this.#tellEnd()
    if (this.#gathered + bytes > most) this.publish()
    // The bell may have led to records.
    this.#tellEnd()
    if (this.#limit === 0 || this.#at + bytes > this.#bytes.length) this.#begin(bytes)
    const untilPublished = mostUnpublished.line - (this.#gathered % mostUnpublished.line)
    this.#limit = Math.min(this.#bytes.length, this.#at + Math.max(bytes, untilPublished))
  }

  #begin(atLeast: number): void {
    const { ints, floats, bytes } = this.#pieces.begin(atLeast)
    this.#ints = ints
    this.#floats = floats
    this.#bytes = bytes
    this.#at = 0
  }

  /** False where there was nothing to show. The ring comes after it: where the bell is a call, it may lead to records. */
  #show(): boolean {
    if (this.#pieces.isEmpty) return false
    this.#movePieces()
    this.#waitingBefore = this.#pieces.bytes
    return true
  }

  /** Bytes that have not been published, and do not wait for room. */
  get #gathered(): number {
    return this.#pieces.bytes - this.#waitingBefore
  }

  /** Move what has room in the ring: no more than the whole of it, however fast the reader goes on. */
  #movePieces(): void {
    this.#tellEnd()
    for (let left = this.#capacity; left > 0 && !this.#pieces.isEmpty; ) {
      const at = this.#place(this.#pieces.firstBytes)
      if (at === -1) break
      const behind = this.#pieces.moveInto(this.#memory.frames, at, Math.min(left, this.#end - at))
      left -= behind - at
      this.#published = behind === this.#capacity ? 0 : behind
    }
    if (this.#pieces.isEmpty) this.#limit = 0
    this.#memory.set('written', this.#published)
  }

  /** Where in the ring a frame has room: behind what is published, or else at the beginning; -1 without room. Sets `#end`. */
  #place(bytes: number): number {
    const read = this.#memory.get('read')
    const start = this.#published
    if (read <= start) this.#lapEnd = this.#capacity
    this.#end = read > start ? read - 8 : this.#capacity - (read === 0 ? 8 : 0)
    if (start + bytes <= this.#end) return start
    if (read > start || bytes >= read) return -1
    pad(this.#memory.frames.ints, start, this.#capacity - start)
    this.#lapEnd = start
    this.#end = read - 8
    return 0
  }

  /** Nothing is written behind the last frame of a piece that is complete. */
  #tellEnd(): void {
    if (this.#limit > 0) this.#pieces.endsAt(this.#at)
  }
}

function pad(ints: Int32Array, at: number, bytes: number): void {
  ints[at >> 2] = bytes
  ints[(at >> 2) + 1] = padCode
}
