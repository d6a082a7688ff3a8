import type { Storage } from '../storage/storage.js'

/** The store is asked at most once in this time. */
const checkedForMs = 1000

/** Finds out if the store can be written. However often it is asked, the store is checked at most once a second. */
export class Readiness {
  readonly #storage: Storage
  readonly #monotonicMs: () => number
  #checked: { readonly refusal: Promise<string | undefined>; readonly atMs: number } | undefined

  constructor(storage: Storage, monotonicMs: () => number = () => performance.now()) {
    this.#storage = storage
    this.#monotonicMs = monotonicMs
  }

  /** Resolves with the reason why the store cannot be used, if there is one. */
  refusal(): Promise<string | undefined> {
    const now = this.#monotonicMs()
    if (this.#checked === undefined || now - this.#checked.atMs >= checkedForMs) {
      const refusal = this.#storage.check().then(
        () => undefined,
        (error: Error) => error.message,
      )
      this.#checked = { refusal, atMs: now }
    }
    return this.#checked.refusal
  }
}
