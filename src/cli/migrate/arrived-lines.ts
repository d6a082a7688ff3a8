import { hash } from 'node:crypto'
import type { Line } from './line-reader.js'
import { LineSet, linesOfPage, pageOf } from './line-set.js'

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
