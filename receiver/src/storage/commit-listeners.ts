/** Learns that records were committed. It must not throw. */
export type CommitListener = () => void

/** The listeners of a store. Without any, a commit costs nothing more. */
export class CommitListeners {
  readonly #listeners = new Set<CommitListener>()

  /** Returns a function that ends it. */
  add(listener: CommitListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The store calls this after each commit of records. */
  committed(): void {
    for (const listener of this.#listeners) listener()
  }
}
