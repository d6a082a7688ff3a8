/** A line as its bytes came. */
export interface RawLine {
  /** Without its end and, at the start of the input, without a byte order mark. Of a line that is too long, the beginning. */
  readonly bytes: Buffer
  /** What it takes in the input, its end included. */
  readonly size: number
  /** It is longer than {@link maxLineBytes}. */
  readonly cut: boolean
}

/** Of a longer line only so much is held. */
export const maxLineBytes = 16_777_216

const lineFeed = 10
const carriageReturn = 13
const byteOrderMark = Buffer.from('\ufeff')

/** Makes lines of the pieces of an input. At most one unfinished line is held. */
export class LineSplitter {
  #parts: Buffer[] = []
  #held = 0
  #size = 0
  #first = true

  /** The line that has no end, if there is one: nothing more comes. */
  end(): RawLine | undefined {
    return this.#size === 0 ? undefined : this.#take()
  }

  /** The lines that end in a piece. The piece must not change as long as they are used. */
  *push(piece: Buffer): Generator<RawLine> {
    let start = 0
    for (let end = piece.indexOf(lineFeed); end !== -1; end = piece.indexOf(lineFeed, start)) {
      this.#add(piece.subarray(start, end))
      this.#size++
      start = end + 1
      yield this.#take()
    }
    if (start < piece.length) this.#add(piece.subarray(start))
  }

  #add(part: Buffer): void {
    this.#size += part.length
    const kept = part.subarray(0, Math.max(0, maxLineBytes - this.#held))
    this.#held += kept.length
    if (kept.length > 0) this.#parts.push(kept)
  }

  #take(): RawLine {
    const parts = this.#parts
    let bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    const cut = this.#held >= maxLineBytes && this.#size > this.#held + 1
    if (this.#first && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)) {
      bytes = bytes.subarray(byteOrderMark.length)
    }
    if (!cut && bytes.at(-1) === carriageReturn) bytes = bytes.subarray(0, -1)
    const line = { bytes, size: this.#size, cut }
    this.#first = false
    this.#parts = []
    this.#held = 0
    this.#size = 0
    return line
  }
}
