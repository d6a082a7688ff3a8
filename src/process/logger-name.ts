/** Tells other threads the `appName` of a logger. */
export interface NameMessage {
  readonly type: 'name'
  readonly appName: string
}

/** The `appName` that the first logger with one was given in code. The events of `track` have it, too, where no variable names the service. */
export class LoggerName {
  readonly #post: (message: NameMessage) => void
  #appName: string | undefined
  #named: ((appName: string) => void) | undefined

  constructor(post: (message: NameMessage) => void) {
    this.#post = post
  }

  /** A logger of this thread has this one. */
  give(appName: string): void {
    if (this.#appName !== undefined) return
    this.receive({ type: 'name', appName })
    this.tell()
  }

  /** Call `named` with the name, now or when it becomes known. It takes the place of the one before. */
  whenKnown(named: (appName: string) => void): void {
    if (this.#appName === undefined) this.#named = named
    else named(this.#appName)
  }

  /** A thread asks for what it has missed. */
  tell(): void {
    if (this.#appName !== undefined) this.#post({ type: 'name', appName: this.#appName })
  }

  receive({ appName }: NameMessage): void {
    if (this.#appName !== undefined) return
    this.#appName = appName
    this.#named?.(appName)
    this.#named = undefined
  }
}
