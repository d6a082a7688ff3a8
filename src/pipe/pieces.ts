import { FrameMemory } from './frame.js'

interface Piece {
  readonly frames: FrameMemory
  /** The first frame that is not in the ring. */
  from: number
  /** Behind the last frame. While the writer writes to the last piece, it alone knows its end. */
  end: number
}

/** Most turns of an application need no more. */
const pieceBytes = 16_384
/** Memory for as many pieces is kept for the next burst: fresh memory is slow. */
const mostSpare = 32

/** Frames that are not in the ring of a pipe yet, in order, in private memory. */
export class Pieces {
  readonly #pieces: Piece[] = []
  #bytes = 0
  /** Memory of pieces that are empty: the next ones take it. */
  readonly #spare: FrameMemory[] = []

  get isEmpty(): boolean {
    return this.#pieces.length === 0
  }

  /** Bytes of all frames. The last piece counts when the writer has told its end. */
  get bytes(): number {
    return this.#bytes
  }

  /** Begin a piece with room for a frame of `bytes` bytes. */
  begin(bytes: number): FrameMemory {
    const frames = this.#memory(bytes)
    this.#pieces.push({ frames, from: 0, end: 0 })
    return frames
  }

  /** The last piece goes up to here. */
  endsAt(end: number): void {
    const last = this.#pieces[this.#pieces.length - 1]
    if (last === undefined) return
    this.#bytes += end - last.end
    last.end = end
  }

  /** Add a piece that is complete. */
  add(frames: FrameMemory): void {
    const end = frames.bytes.length
    this.#pieces.push({ frames, from: 0, end })
    this.#bytes += end
  }

  /** Bytes of the first frame, aligned; 0 where there is none. */
  get firstBytes(): number {
    const first = this.#pieces[0]
    return first === undefined ? 0 : first.frames.behind(first.from) - first.from
  }

  /**
   * Copy whole frames of the first piece into the memory of a ring, and forget them.
   *
   * @param room bytes behind `at`, enough for the first frame
   * @returns the position behind them
   */
  moveInto(ring: FrameMemory, at: number, room: number): number {
    const first = this.#pieces[0]!
    const { frames, from, end } = first
    let to = end
    if (end - from > room) for (to = from; frames.behind(to) - from <= room; ) to = frames.behind(to)
    ring.floats.set(frames.floats.subarray(from >> 3, to >> 3), at >> 3)
    first.from = to
    this.#bytes -= to - from
    if (to === end) this.#dropFirst()
    return at + to - from
  }

  #dropFirst(): void {
    const { frames } = this.#pieces.shift()!
    if (frames.bytes.length === pieceBytes && this.#spare.length < mostSpare) this.#spare.push(frames)
  }

  #memory(bytes: number): FrameMemory {
    const spare = bytes <= pieceBytes ? this.#spare.pop() : undefined
    return spare ?? new FrameMemory(new ArrayBuffer(Math.max(bytes, pieceBytes)))
  }
}
