const signals = ['SIGINT', 'SIGTERM'] as const

/** SIGINT and SIGTERM: the first one asks for an orderly end, the second one is what it would be without this. */
export class Interruption {
  readonly #tell: (text: string) => void
  readonly #underWay: string
  readonly #controller = new AbortController()

  /**
   * @param tell says that the first one was heard
   * @param underWay what an orderly end waits for
   */
  constructor(tell: (text: string) => void, underWay = 'entries') {
    this.#tell = tell
    this.#underWay = underWay
    for (const signal of signals) process.on(signal, this.#hear)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  end(): void {
    for (const signal of signals) process.off(signal, this.#hear)
  }

  readonly #hear = (signal: NodeJS.Signals): void => {
    if (this.#controller.signal.aborted) {
      this.end()
      process.kill(process.pid, signal)
      return
    }
    this.#tell(`${signal}: waits for the ${this.#underWay} under way; the second time it ends at once`)
    this.#controller.abort(`interrupted by ${signal}`)
  }
}
