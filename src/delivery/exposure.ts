import type { LedgerBook } from './ledger-book.js'
import type { Pending } from './record-queue.js'

/**
 * Keeps in the ledger how many records would be lost with this thread although there is a store: those that it could not keep, and those
 * that it has gathered since it last wrote.
 */
export class Exposure {
  readonly #book: LedgerBook
  /** By lane. */
  readonly #unkept: readonly Set<Pending>[]
  readonly #exposed: number[]

  constructor({ lanes, book }: { readonly lanes: number; readonly book: LedgerBook }) {
    this.#book = book
    this.#unkept = Array.from({ length: lanes }, () => new Set())
    this.#exposed = new Array(lanes).fill(0)
  }

  /** A record is in memory, and with the store where that could keep it. */
  took(lane: number, record: Pending): void {
    if (record.place === undefined) this.#unkept[lane]!.add(record)
    this.#set(lane, this.#exposed[lane]! + 1)
  }

  /** A record has left memory. */
  letGo(lane: number, record: Pending): void {
    if (this.#unkept[lane]!.delete(record)) this.#set(lane, this.#exposed[lane]! - 1)
  }

  /** All that the store keeps is written. */
  written(): void {
    for (const [lane, unkept] of this.#unkept.entries()) {
      if (this.#exposed[lane] !== unkept.size) this.#set(lane, unkept.size)
    }
  }

  #set(lane: number, count: number): void {
    this.#exposed[lane] = count
    this.#book.exposed(lane, count)
  }
}
