const signals = ['SIGINT', 'SIGTERM'] as const

/** Listens for SIGINT and SIGTERM. The first one aborts {@link signal}, the second one ends the process at once. */
export class Interruption {
  readonly #say: (text: string) => void
  readonly #underWay: string
  readonly #controller = new AbortController()

  /**
   * @param say prints a message about the first signal
   * @param underWay names the work that an orderly end waits for
   */
  constructor(say: (text: string) => void, underWay: string) {
    this.#say = say
    this.#underWay = underWay
    for (const signal of signals) process.on(signal, this.#handle)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Stop listening. */
  end(): void {
    for (const signal of signals) process.off(signal, this.#handle)
  }

  readonly #handle = (signal: NodeJS.Signals): void => {
    if (this.#controller.signal.aborted) {
      this.end()
      process.kill(process.pid, signal)
      return
    }
    this.#say(`${signal}: waits for the ${this.#underWay} under way; a second signal ends it at once`)
    this.#controller.abort(`interrupted by ${signal}`)
  }
}
