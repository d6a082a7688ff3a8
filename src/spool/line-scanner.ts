import { lineMarker } from './spool-line.js'

/** A place in a file where a whole line stands, without its end. */
export interface Found<Line> {
  readonly start: number
  readonly length: number
  readonly line: Line
}

const lineFeed = 10
const marker = Buffer.from(lineMarker)
/** What is longer is no line, and is not held. */
const maxHeldBytes = 67_108_864

/**
 * Finds the whole lines of a file that may have been cut, torn or changed anywhere. Where a line is not whole, the next one is looked for
 * inside it, too: its beginning is unmistakable, so that a line end that was lost costs no line.
 */
export class LineScanner<Line> {
  /** Places at which bytes stood that are no line. */
  damaged = 0
  readonly #read: (bytes: Buffer) => Line | undefined
  /** The parts of a line whose end has not come: put together once, when it comes. */
  #rest: Buffer[] = []
  #held = 0
  #offset = 0

  /** @param read what a line says; undefined when it is not whole */
  constructor(read: (bytes: Buffer) => Line | undefined) {
    this.#read = read
  }

  /** The lines that end in the next piece of the file. */
  push(piece: Buffer): Found<Line>[] {
    const found: Found<Line>[] = []
    if (!piece.includes(lineFeed)) {
      this.#hold(piece)
      return found
    }
    const bytes = this.#takeRest(piece)
    let start = 0
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      this.#scan(bytes.subarray(start, end), this.#offset + start, found)
      start = end + 1
    }
    this.#offset += start
    this.#hold(bytes.subarray(start))
    return found
  }

  /** The file ends here: its last line may be whole though its end is missing. */
  end(): Found<Line>[] {
    const found: Found<Line>[] = []
    this.#scan(this.#takeRest(), this.#offset, found)
    return found
  }

  #hold(part: Buffer): void {
    if (part.length > 0) this.#rest.push(part)
    this.#held += part.length
    if (this.#held <= maxHeldBytes) return
    this.#offset += this.#held
    this.#rest = []
    this.#held = 0
    this.damaged++
  }

  #takeRest(more: Buffer = Buffer.alloc(0)): Buffer {
    const parts = this.#rest
    this.#rest = []
    this.#held = 0
    return parts.length === 0 ? more : Buffer.concat([...parts, more])
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
      // A line end that has become something else stands before the next beginning.
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
