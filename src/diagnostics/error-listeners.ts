import type { SluiceError } from '../errors/sluice-error.js'

type OnError = (error: SluiceError) => void

/** The `onError` of everybody who shares an engine; one that is given several times hears of each error once. */
export class ErrorListeners {
  readonly #users = new Map<OnError, number>()

  add(listener: OnError | undefined): void {
    if (listener !== undefined) this.#users.set(listener, (this.#users.get(listener) ?? 0) + 1)
  }

  remove(listener: OnError | undefined): void {
    if (listener === undefined) return
    const users = (this.#users.get(listener) ?? 0) - 1
    if (users > 0) this.#users.set(listener, users)
    else this.#users.delete(listener)
  }

  /** What one of them throws or rejects is its own affair, and keeps nothing from the others. */
  readonly tell = (error: SluiceError): void => {
    for (const listener of [...this.#users.keys()]) {
      try {
        const result: unknown = listener(error)
        if (result instanceof Promise) result.catch(() => {})
      } catch {}
    }
  }
}
