import type { SluiceError } from '../errors/sluice-error.js'

type OnError = (error: SluiceError) => void

/** Call a listener of the application. Its exception or rejection must not reach delivery. */
export function notify(listener: OnError | undefined, error: SluiceError): void {
  try {
    const result: unknown = listener?.(error)
    if (result instanceof Promise) result.catch(() => {})
  } catch {}
}

/** The listeners of all users of an engine: functions, and undefined for a user without one. Each is there once. */
export class UsersListeners<Listener> {
  /** Replaced at each change. */
  all: readonly Listener[] = []
  readonly #users = new Map<Listener, number>()

  add(listener: Listener): void {
    this.#users.set(listener, (this.#users.get(listener) ?? 0) + 1)
    this.all = [...this.#users.keys()]
  }

  remove(listener: Listener): void {
    const users = (this.#users.get(listener) ?? 0) - 1
    if (users > 0) this.#users.set(listener, users)
    else this.#users.delete(listener)
    this.all = [...this.#users.keys()]
  }
}

/** The `onError` listeners of all users of an engine. A listener that was added twice gets each error once. */
export class ErrorListeners extends UsersListeners<OnError | undefined> {
  readonly notifyAll = (error: SluiceError): void => {
    for (const listener of this.all) notify(listener, error)
  }
}
