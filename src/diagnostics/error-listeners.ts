import type { SluiceError } from '../errors/sluice-error.js'

type OnError = (error: SluiceError) => void

/** Call a listener of the application. Its exception or rejection must not reach delivery. */
export function notify(listener: OnError | undefined, error: SluiceError): void {
  try {
    const result: unknown = listener?.(error)
    if (result instanceof Promise) result.catch(() => {})
  } catch {}
}

/** The `onError` listeners of all users of an engine. A listener that was added twice gets each error once. */
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

  readonly notifyAll = (error: SluiceError): void => {
    for (const listener of [...this.#users.keys()]) notify(listener, error)
  }
}
