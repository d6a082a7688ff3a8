import type { CommitListener, NewRecord } from './record-storage.js'
import type { Repeated } from './repeated-attempts.js'

/** The listeners of a store. */
export class CommitListeners {
  readonly #listeners = new Set<CommitListener>()

  /** Returns a function that ends it. */
  add(listener: CommitListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The store calls this after each commit of records, with those that came again, and the time at which it was requested. */
  committed(
    records: readonly NewRecord[],
    { repeated, sinceMs }: { repeated: readonly Repeated[]; sinceMs: number },
  ): void {
    const stored = { logs: 0, values: 0 }
    for (const { kind } of records) stored[kind]++
    for (const { kind, count } of repeated) stored[kind] -= count
    const commit = { records: records.length, stored, ms: performance.now() - sinceMs }
    for (const listener of this.#listeners) listener(commit)
  }
}
