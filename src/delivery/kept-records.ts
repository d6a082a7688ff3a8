import type { LedgerBook } from './ledger-book.js'
import type { Pending } from './record-queue.js'

/**
 * Keeps in the ledger how many of the records in memory the store has written, too: those outlive this thread. A record counts only after
 * it was written, so that the number is never too high, whenever the thread ends.
 */
export class KeptRecords {
  readonly #book: LedgerBook
  /** By lane: records that the store could not keep, those that it has gathered since it last wrote, and those written. */
  readonly #unkept: readonly Set<Pending>[]
  readonly #gathered: number[]
  readonly #written: number[]

  constructor({ lanes, book }: { readonly lanes: number; readonly book: LedgerBook }) {
    this.#book = book
    this.#unkept = Array.from({ length: lanes }, () => new Set())
    this.#gathered = new Array(lanes).fill(0)
    this.#written = new Array(lanes).fill(0)
  }

  /** A record is in memory, and with the store where that could keep it. */
  took(lane: number, record: Pending): void {
    if (record.place === undefined) this.#unkept[lane]!.add(record)
    else this.#gathered[lane]!++
  }

  /** Records have come from the store. */
  restored(lane: number, count: number): void {
    this.#set(lane, this.#written[lane]! + count)
  }

  /** A record has left memory. */
  letGo(lane: number, record: Pending): void {
    if (this.#unkept[lane]!.delete(record)) return
    if (this.#written[lane]! > 0) this.#set(lane, this.#written[lane]! - 1)
    else this.#gathered[lane] = Math.max(0, this.#gathered[lane]! - 1)
  }

  /** All that the store has gathered is written. */
  written(): void {
    for (const [lane, gathered] of this.#gathered.entries()) {
      if (gathered === 0) continue
      this.#gathered[lane] = 0
      this.#set(lane, this.#written[lane]! + gathered)
    }
  }

  #set(lane: number, count: number): void {
    this.#written[lane] = count
    this.#book.kept(lane, count)
  }
}
