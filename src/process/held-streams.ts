/** Beyond so many streams the oldest is let go, once its records are delivered. */
const maxHeld = 8
/** Beyond so many it is let go whatever it holds: the service may be down for hours. */
const maxWaiting = 32

/** What is used of a stream of thread-stream's. */
export interface HeldStream {
  once(event: 'ready', listener: () => void): unknown
}

/**
 * Keeps streams to workers that run Sluice from the garbage collector. thread-stream ends the worker of a stream that nobody can reach any
 * more, whatever it has yet to deliver; a logger that is a constant of a module is out of reach as soon as the module has logged its
 * last line, and Node 26 sees that within milliseconds.
 *
 * An application that makes loggers without end must not gather workers without end: therefore the bound.
 */
export class HeldStreams {
  readonly #held = new Map<number, HeldStream>()
  readonly #runsSluice: (threadId: number) => Promise<boolean>
  readonly #settled: (threadId: number) => Promise<boolean>

  constructor(plan: {
    /** Known once the stream is ready. */
    readonly runsSluice: (threadId: number) => Promise<boolean>
    /** Deliver what this thread has; whether nothing is left. */
    readonly settled: (threadId: number) => Promise<boolean>
  }) {
    this.#runsSluice = plan.runsSluice
    this.#settled = plan.settled
  }

  hold(threadId: number, stream: HeldStream): void {
    this.#held.set(threadId, stream)
    // A worker that cannot be asked stays held: nothing of it may reach the application.
    stream.once('ready', () => void this.#ready(threadId).catch(() => {}))
  }

  release(threadId: number): void {
    this.#held.delete(threadId)
  }

  async #ready(threadId: number): Promise<void> {
    if (await this.#runsSluice(threadId)) await this.#letGoBeyondBound()
    else this.release(threadId)
  }

  async #letGoBeyondBound(): Promise<void> {
    for (const threadId of this.#beyond(maxWaiting)) this.release(threadId)
    for (const threadId of this.#beyond(maxHeld)) if (await this.#settled(threadId)) this.release(threadId)
  }

  /** The oldest, as many as there are more than `most`. */
  #beyond(most: number): number[] {
    return [...this.#held.keys()].slice(0, Math.max(0, this.#held.size - most))
  }
}
