import type { LedgerBook } from './ledger-book.js'

/**
 * Counts for the ledger the records in memory that are on disk, too: those outlive this thread. A record counts only after it was
 * written. A record that leaves is taken for a written one where that is unknown. So the count is never too high, whenever the thread
 * ends. Of records that move, the ledger learns with the move.
 */
export class KeptRecords {
  readonly #book: LedgerBook
  /** By lane: records that the store has gathered since it wrote last, and records that it has written. */
  readonly #gathered: number[]
  readonly #written: number[]

  constructor({ lanes, book }: { readonly lanes: number; readonly book: LedgerBook }) {
    this.#book = book
    this.#gathered = new Array(lanes).fill(0)
    this.#written = new Array(lanes).fill(0)
  }

  /** The store has taken a record that is in memory. */
  took(lane: number): void {
    this.#gathered[lane]!++
  }

  /** Records have come back from the store. */
  restored(lane: number, count: number): void {
    this.#written[lane]! += count
  }

  /** Records that were in memory and in the store have left one of them. Returns how many of these had been written. */
  letGo(lane: number, count = 1): number {
    const written = Math.min(count, this.#written[lane]!)
    this.#gathered[lane] = Math.max(0, this.#gathered[lane]! - (count - written))
    this.#written[lane]! -= written
    return written
  }

  /** All that the store has gathered is written. */
  written(): void {
    for (const [lane, gathered] of this.#gathered.entries()) {
      if (gathered === 0) continue
      this.#gathered[lane] = 0
      this.#written[lane]! += gathered
      this.#book.count(lane, 'kept', gathered)
    }
  }

  /** The store has given up records that are in memory. */
  forgotten(lane: number, count: number): void {
    this.#book.count(lane, 'kept', -this.letGo(lane, count))
  }
}
