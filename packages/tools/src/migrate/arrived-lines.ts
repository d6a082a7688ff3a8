import { hash } from 'node:crypto'
import type { Line } from '../line-splitter.js'

/** Lines that share one sum of digests. */
const pageLines = 4096
/** Sums of digests stay below 2^53. */
const modulus = 2 ** 48

/** A digest of a line, in 12 hexadecimal digits. */
export function digestOf({ bytes }: Line): string {
  return hash('sha1', bytes, 'hex').slice(0, 12)
}

/** A set of line numbers: one bit for each line, so a million lines take 125 KB. */
export class LineSet {
  #bits = new Uint8Array(512)
  #size = 0

  get size(): number {
    return this.#size
  }

  has(line: number): boolean {
    return ((this.#bits[byteOf(line)] ?? 0) & bitOf(line)) !== 0
  }

  /** False when the line was in the set already. */
  add(line: number): boolean {
    if (this.has(line)) return false
    const byte = byteOf(line)
    if (byte >= this.#bits.length) this.#grow(byte + 1)
    this.#bits[byte]! |= bitOf(line)
    this.#size++
    return true
  }

  /** False when the line was not in the set. */
  delete(line: number): boolean {
    if (!this.has(line)) return false
    this.#bits[byteOf(line)]! &= ~bitOf(line)
    this.#size--
    return true
  }

  #grow(bytes: number): void {
    const bits = new Uint8Array(Math.max(bytes, 2 * this.#bits.length))
    bits.set(this.#bits)
    this.#bits = bits
  }
}

function byteOf(line: number): number {
  return Math.floor((line - 1) / 8)
}

function bitOf(line: number): number {
  return 1 << ((line - 1) % 8)
}

/**
 * The lines that have arrived, with a sum of their digests for each page. The sums show when the file was changed since: the line numbers of
 * the journal would then name other lines, and entries would be made twice or not at all.
 */
export class ArrivedLines {
  readonly #lines = new LineSet()
  readonly #sums = new Map<number, number>()
  #last = 0

  get size(): number {
    return this.#lines.size
  }

  has(line: number): boolean {
    return this.#lines.has(line)
  }

  add(line: number, digest: string): void {
    if (!this.#lines.add(line)) return
    this.#last = Math.max(this.#last, line)
    addTo(this.#sums, line, digest)
  }

  /** Compare with the file, up to the last line that has arrived. Returns a range of lines that has changed, or undefined. */
  async changed(lines: AsyncIterable<Line>): Promise<string | undefined> {
    if (this.size === 0) return undefined
    const sums = new Map<number, number>()
    for await (const line of lines) {
      if (this.has(line.number)) addTo(sums, line.number, digestOf(line))
      if (line.number >= this.#last) break
    }
    for (const [page, sum] of this.#sums) {
      if (sums.get(page) !== sum) return `${page * pageLines + 1} to ${(page + 1) * pageLines}`
    }
    return undefined
  }
}

function addTo(sums: Map<number, number>, line: number, digest: string): void {
  const page = Math.floor((line - 1) / pageLines)
  sums.set(page, ((sums.get(page) ?? 0) + Number.parseInt(digest, 16)) % modulus)
}
