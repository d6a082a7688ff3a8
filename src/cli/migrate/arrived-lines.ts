import { hash } from 'node:crypto'
import type { Line } from './line-reader.js'

/** Sums of digests stay below 2^53. */
const modulus = 2 ** 48

/** What a line says, in 12 digits. */
export function digestOf({ bytes }: Line): string {
  return hash('sha1', bytes, 'hex').slice(0, 12)
}

/**
 * The lines that have arrived, and one sum per page of what they said, by which a file is seen to be another one than that which was
 * migrated: line numbers alone would then make entries twice, and leave others out.
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

  /** Compare with the file, as far as lines have arrived. Undefined when nothing has changed, else where. */
  async changed(lines: AsyncIterable<Line>): Promise<string | undefined> {
    if (this.size === 0) return undefined
    const sums = new Map<number, number>()
    for await (const line of lines) {
      if (this.has(line.number)) addTo(sums, line.number, digestOf(line))
      if (line.number >= this.#last) break
    }
    for (const [page, sum] of this.#sums) if (sums.get(page) !== sum) return linesOfPage(page)
    return undefined
  }
}

function addTo(sums: Map<number, number>, line: number, digest: string): void {
  const page = pageOf(line)
  sums.set(page, ((sums.get(page) ?? 0) + Number.parseInt(digest, 16)) % modulus)
}

/** Lines of one page. */
const pageLines = 4096

interface LinePage {
  /** A bit for each line; none where the page is full. */
  bits: Uint8Array | undefined
  count: number
}

/**
 * A set of line numbers that does not grow with the file: a page that is full is a few bytes, and so is one that is empty. At worst,
 * when every other line is in it, a line takes a bit.
 */
export class LineSet {
  readonly #pages = new Map<number, LinePage>()
  #size = 0

  get size(): number {
    return this.#size
  }

  has(line: number): boolean {
    const page = this.#pages.get(pageOf(line))
    if (page === undefined) return false
    return page.bits === undefined || (page.bits[byteOf(line)]! & bitOf(line)) !== 0
  }

  /** False when it was there. */
  add(line: number): boolean {
    if (this.has(line)) return false
    let page = this.#pages.get(pageOf(line))
    if (page === undefined) {
      page = { bits: new Uint8Array(pageLines / 8), count: 0 }
      this.#pages.set(pageOf(line), page)
    }
    page.bits![byteOf(line)]! |= bitOf(line)
    page.count++
    this.#size++
    if (page.count === pageLines) page.bits = undefined
    return true
  }

  /** False when it was not there. */
  delete(line: number): boolean {
    const page = this.#pages.get(pageOf(line))
    if (page === undefined || !this.has(line)) return false
    page.bits ??= new Uint8Array(pageLines / 8).fill(0xff)
    page.bits[byteOf(line)]! &= ~bitOf(line)
    page.count--
    this.#size--
    if (page.count === 0) this.#pages.delete(pageOf(line))
    return true
  }
}

/** Which page a line is on, from 0. */
export function pageOf(line: number): number {
  return Math.floor((line - 1) / pageLines)
}

/** The lines of a page, for a message. */
export function linesOfPage(page: number): string {
  return `${page * pageLines + 1} to ${(page + 1) * pageLines}`
}

function byteOf(line: number): number {
  return ((line - 1) % pageLines) >> 3
}

function bitOf(line: number): number {
  return 1 << ((line - 1) & 7)
}
