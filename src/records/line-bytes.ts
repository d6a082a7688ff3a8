import { StringDecoder } from 'node:string_decoder'

const firstBytes = 8192
/** Bytes of UTF-8 for a UTF-16 code unit, at most. */
const mostBytesPerUnit = 3
/** The bytes of a text that is longer are counted before room is made for it. */
const countedFrom = 65_536
const lineFeed = '\n'.charCodeAt(0)
/** A window that has grown beyond this, for a long line or a long text, is given up at the next short one. */
const keptBytes = 262_144

/**
 * Splits text into the bytes of its lines. A line may be longer than many pieces.
 *
 *     lines.push(text)
 *     while (lines.next()) take(lines.bytes, lines.from, lines.end)
 *
 * The bytes of a line change with the next `push`.
 */
export class LineBytes {
  /** The memory in which the lines stand. */
  bytes: Buffer = Buffer.alloc(0)
  /** The line of the last {@link next}: where it begins, and where its end stands. */
  from = 0
  end = 0
  readonly #decoder = new StringDecoder('utf8')
  /** Where the next line begins, where the search for its end goes on, and where the bytes end. */
  #at = 0
  #searchedTo = 0
  #used = 0

  /** True while there is the beginning of a line. */
  get pending(): boolean {
    return this.#at < this.#used
  }

  /** Add text. All whole lines of the text before must have been taken. A text must not end within a pair of surrogates. */
  push(text: string): void {
    const held = this.#used - this.#at
    this.#makeRoom(held, text.length > countedFrom ? Buffer.byteLength(text) : mostBytesPerUnit * text.length)
    this.#searchedTo -= this.#at
    this.#at = 0
    this.#used = held + this.bytes.write(text, held)
  }

  /** Add bytes of UTF-8, which may end within a character. */
  pushBytes(bytes: Buffer): void {
    this.push(this.#decoder.write(bytes))
  }

  /** Go to the next whole line. False when there is none. */
  next(): boolean {
    const end = this.#searchedTo < this.#used ? this.bytes.indexOf(lineFeed, this.#searchedTo) : -1
    if (end === -1 || end >= this.#used) {
      this.#searchedTo = this.#used
      return false
    }
    this.from = this.#at
    this.end = end
    this.#at = end + 1
    this.#searchedTo = this.#at
    return true
  }

  /** Go to the last line, which has no end. False when there is none. No text may come after it. */
  last(): boolean {
    const rest = this.#decoder.end()
    if (rest !== '') this.push(rest)
    if (!this.pending) return false
    this.from = this.#at
    this.end = this.#used
    this.#at = this.#used
    return true
  }

  /** Move the `held` bytes of a line that is not whole to the beginning, with room for more behind them. */
  #makeRoom(held: number, more: number): void {
    const needed = held + more
    const isTooLarge = this.bytes.length > keptBytes && needed <= keptBytes
    if (needed <= this.bytes.length && !isTooLarge) {
      if (held > 0 && this.#at > 0) this.bytes.copyWithin(0, this.#at, this.#used)
      return
    }
    const size = isTooLarge ? keptBytes : Math.max(needed, firstBytes, 2 * this.bytes.length)
    const larger = Buffer.allocUnsafeSlow(size)
    this.bytes.copy(larger, 0, this.#at, this.#used)
    this.bytes = larger
  }
}
