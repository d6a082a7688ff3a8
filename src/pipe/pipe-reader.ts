import {
  endTextAt,
  type FrameHead,
  frameCode,
  headBytes,
  padCode,
  type TextHead,
  textAt,
  valueBytes,
  valueCode,
} from './frame.js'
import type { PipeBells, PipeMemory, TakenCount } from './pipe-memory.js'

/**
 * Takes records out of a pipe. It counts each one in the ledger before it returns. An error that it throws is the end of the
 * reader: see `PipeMemory.settle`.
 */
export interface FrameSink extends TakenCount {
  value(eventId: number, milliseconds: number): void
  keyed(eventId: number, milliseconds: number, key: string): void
  /** A line, or a style: UTF-8 in `memory` from `from` to `end`. Head and memory are the sink's until it returns. */
  text(head: TextHead, memory: Buffer, from: number, end: number): void
  /** A long line whose beginning went with an earlier reader. */
  unreadable(head: FrameHead): void
}

/**
 * The end of a pipe in the thread that delivers. What it has not taken when its thread ends is for the next reader of the same memory.
 */
export class PipeReader {
  readonly #memory: PipeMemory
  readonly #bells: PipeBells
  readonly #head = {}
  /** The beginning of a long line. */
  #parts: Buffer[] = []
  #partBytes = 0

  constructor(memory: PipeMemory, bells: PipeBells = memory.bells) {
    this.#memory = memory
    this.#bells = bells
  }

  /**
   * Give frames to the sink, in order, until they have `mostBytes` or more.
   *
   * @returns false where frames are left: after `mostBytes`, or while the sink takes none
   */
  take(sink: FrameSink, mostBytes: number): boolean {
    const memory = this.#memory
    if (!memory.settle(sink)) return false
    const start = memory.get('read')
    const written = memory.get('written')
    let at = start
    for (let left = mostBytes; at !== written && left > 0; ) {
      left -= memory.frames.sizeAt(at)
      if (memory.frames.codeAt(at) !== padCode) {
        if (!this.#give(at, sink)) break
        // A thread that was given up, and goes on for a moment: another one reads by now.
        if (memory.get('busy') !== at + 1) return false
      }
      at = memory.move(at)
    }
    memory.set('busy', 0)
    if (at !== start) this.#bells.room.ring()
    return at === memory.get('written')
  }

  /** From now on the reader looks by itself. */
  stay(): void {
    this.#memory.set('rests', 0)
  }

  /** From now on the writer rings for each frame. False where some have come that nothing has rung for. */
  rest(): boolean {
    const memory = this.#memory
    memory.set('rests', 1)
    return memory.get('read') === memory.get('written')
  }

  /** False while the sink takes none. */
  #give(at: number, sink: FrameSink): boolean {
    const memory = this.#memory
    const { frames } = memory
    const taken = sink.taken()
    if (taken === undefined) return false
    // In this order: `busy` says that `taken` belongs to this frame.
    memory.set('taken', taken)
    memory.set('busy', at + 1)
    const code = frames.codeAt(at)
    if (code === valueCode) sink.value(frames.eventAt(at), frames.timeAt(at))
    else if (code === frameCode.keyed) sink.keyed(frames.eventAt(at), frames.timeAt(at), this.#keyAt(at))
    else if (code === frameCode.part) this.#part(at)
    else if (frames.endsParts(at)) this.#endParts(at, sink)
    else sink.text(this.#headAt(at), frames.bytes, at + textAt, at + frames.sizeAt(at))
    return true
  }

  #keyAt(at: number): string {
    const { frames } = this.#memory
    return frames.bytes.toString('utf8', at + valueBytes, at + frames.sizeAt(at))
  }

  #part(at: number): void {
    const { frames } = this.#memory
    if (frames.timeAt(at) !== this.#partBytes) this.#dropParts()
    // The beginning of its line is gone.
    if (frames.timeAt(at) !== this.#partBytes) return
    const bytes = Buffer.from(frames.bytes.subarray(at + headBytes, at + frames.sizeAt(at)))
    this.#parts.push(bytes)
    this.#partBytes += bytes.length
  }

  #endParts(at: number, sink: FrameSink): void {
    const { frames } = this.#memory
    const isWhole = frames.partBytesAt(at) === this.#partBytes
    const text = Buffer.concat([...this.#parts, frames.bytes.subarray(at + endTextAt, at + frames.sizeAt(at))])
    this.#dropParts()
    if (isWhole) sink.text(this.#headAt(at), text, 0, text.length)
    else sink.unreadable(this.#headAt(at))
  }

  #dropParts(): void {
    this.#parts = []
    this.#partBytes = 0
  }

  #headAt(at: number): TextHead {
    return this.#memory.frames.headAt(at, this.#head) as TextHead
  }
}
