import { threadId } from 'node:worker_threads'

/** Tells other threads why Sluice is off in one of them; undefined once it is on. */
export interface OffMessage {
  readonly type: 'off'
  readonly threadId: number
  readonly reason: string | undefined
}

/** Why Sluice is off in threads of the process, where a variable is missing or wrong. */
export class OffReasons {
  readonly #post: (message: OffMessage) => void
  readonly #reasons = new Map<number, string>()

  constructor(post: (message: OffMessage) => void) {
    this.#post = post
  }

  /** Of any thread. */
  get first(): string | undefined {
    const [reason] = this.#reasons.values()
    return reason
  }

  /** The reason of this thread, from now on. */
  report(reason: string | undefined): void {
    if (reason === this.#reasons.get(threadId)) return
    this.receive({ type: 'off', threadId, reason })
    this.#post({ type: 'off', threadId, reason })
  }

  /** A thread asks for what it has missed. */
  tell(): void {
    const reason = this.#reasons.get(threadId)
    if (reason !== undefined) this.#post({ type: 'off', threadId, reason })
  }

  receive(message: OffMessage): void {
    if (message.reason === undefined) this.#reasons.delete(message.threadId)
    else this.#reasons.set(message.threadId, message.reason)
  }
}
