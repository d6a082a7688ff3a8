const signals = ['SIGINT', 'SIGTERM'] as const

/** Aborts at the first SIGINT or SIGTERM, and when the reader of stdout has gone. A second signal ends the process at once. */
export class EndOfFollowing {
  readonly #controller = new AbortController()

  constructor() {
    for (const signal of signals) process.once(signal, this.#handle)
    process.stdout.once('error', this.#handle)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Stop listening. */
  end(): void {
    for (const signal of signals) process.off(signal, this.#handle)
    process.stdout.off('error', this.#handle)
  }

  readonly #handle = (): void => this.#controller.abort()
}
