import { FrameMemory } from './frame.js'

interface Piece {
  readonly frames: FrameMemory
  /** The first frame that is not in the ring. */
  from: number
  /** Behind the last frame. The writer knows that of the last piece, while it writes there. */
  end: number
}

/** Frames for which the ring of a pipe had no room, in order, in private memory. */
export class Pieces {
  readonly #pieces: Piece[] = []
  #bytes = 0
  readonly #pieceBytes: number
  /** Memory of a piece that is empty: the next one takes it. */
  #spare: FrameMemory | undefined

  /** @param pieceBytes a longer frame has a piece of its own */
  constructor(pieceBytes: number) {
    this.#pieceBytes = pieceBytes
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0
  }

  /** Bytes of all frames. Those of the last piece count when the writer has told its end. */
  get bytes(): number {
    return this.#bytes
  }

  /** Begin a piece with room for a frame of so many bytes. */
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
   * Move whole frames of the first piece into the memory of a ring.
   *
   * @param room bytes behind `at`, enough for the first frame
   * @returns the position behind them
   */
  moveInto(ring: Buffer, at: number, room: number): number {
    const first = this.#pieces[0]!
    const { frames, from, end } = first
    let to = from
    while (to < end && frames.behind(to) - from <= room) to = frames.behind(to)
    ring.set(frames.bytes.subarray(from, to), at)
    first.from = to
    this.#bytes -= to - from
    if (to === end) this.#dropFirst()
    return at + to - from
  }

  #dropFirst(): void {
    const { frames } = this.#pieces.shift()!
    if (frames.bytes.length === this.#pieceBytes) this.#spare = frames
  }

  #memory(bytes: number): FrameMemory {
    const spare = this.#spare
    if (bytes <= this.#pieceBytes && spare !== undefined) {
      this.#spare = undefined
      return spare
    }
    return new FrameMemory(new ArrayBuffer(Math.max(this.#pieceBytes, bytes)))
  }
}
