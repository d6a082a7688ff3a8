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
