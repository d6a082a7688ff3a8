import { lineMarker } from './spool-line.js'

/** A whole line of a file, without its line end, and its place. */
export interface Found<Line> {
  readonly start: number
  readonly length: number
  readonly line: Line
}

const lineFeed = 10
const marker = Buffer.from(lineMarker)
/** Longer runs of bytes are no line, and are not held. */
const maxHeldBytes = 67_108_864

/**
 * Finds the whole lines of a file that may have been cut, torn or changed anywhere. In a damaged line it searches for the beginning of the
 * next one, which cannot be mistaken: so a lost line end costs no line.
 */
export class LineScanner<Line> {
  /** Places with bytes that are no line. */
  damaged = 0
  readonly #read: (bytes: Buffer) => Line | undefined
  /** The beginning of a line whose end has not come yet, and its place in the file. */
  #held: Buffer[] = []
  #heldBytes = 0
  #offset = 0

  /** @param read returns the content of a line; undefined when it is not whole */
  constructor(read: (bytes: Buffer) => Line | undefined) {
    this.#read = read
  }

  /** The lines that end in the next piece of the file. */
  push(piece: Buffer): Found<Line>[] {
    const found: Found<Line>[] = []
    let start = 0
    for (let end = piece.indexOf(lineFeed); end !== -1; end = piece.indexOf(lineFeed, start)) {
      this.#hold(piece.subarray(start, end))
      this.#scanHeld(found)
      this.#offset++
      start = end + 1
    }
    this.#hold(piece.subarray(start))
    if (this.#heldBytes > maxHeldBytes) {
      this.#release()
      this.damaged++
    }
    return found
  }

  /** The end of the file. Its last line may be whole without a line end. */
  end(): Found<Line>[] {
    const found: Found<Line>[] = []
    this.#scanHeld(found)
    return found
  }

  #hold(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#held.push(bytes)
    this.#heldBytes += bytes.length
  }

  #scanHeld(found: Found<Line>[]): void {
    const [only = Buffer.alloc(0)] = this.#held.length < 2 ? this.#held : [Buffer.concat(this.#held)]
    this.#scan(only, this.#offset, found)
    this.#release()
  }

  #release(): void {
    this.#offset += this.#heldBytes
    this.#held = []
    this.#heldBytes = 0
  }

  #scan(bytes: Buffer, offset: number, found: Found<Line>[]): void {
    if (bytes.length === 0) return
    const whole = this.#read(bytes)
    if (whole !== undefined) {
      found.push({ start: offset, length: bytes.length, line: whole })
      return
    }
    this.damaged++
    for (let start = bytes.indexOf(marker); start !== -1; ) {
      const next = bytes.indexOf(marker, start + 1)
      const end = next === -1 ? bytes.length : next
      // Before the next beginning may stand a line end that has become another byte.
      for (const length of [end - start, end - start - 1]) {
        const line = this.#read(bytes.subarray(start, start + length))
        if (line === undefined) continue
        found.push({ start: offset + start, length, line })
        break
      }
      start = next
    }
  }
}
