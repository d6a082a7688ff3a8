import type { RecordPort } from '../engine/ports.js'
import { systemClock } from '../runtime/clock.js'

/** Flushes of turns that are open at once, before further turns share one. */
const mostOpen = 50

/**
 * The flushes of turns of the event loop. In an outage each one stays open until its deadline, makes an attempt and looks at every answer.
 * So when many are open, the turns of a short time share the next flush.
 */
export class TurnFlushes {
  readonly #port: () => Pick<RecordPort, 'flush' | 'options'>
  #open = 0
  #shared: Promise<void> | undefined
  /** Begins the shared flush, if there is one. */
  #beginShared = () => {}

  constructor(port: () => Pick<RecordPort, 'flush' | 'options'>) {
    this.#port = port
  }

  /** Resolves when all records accepted so far are settled, or after `shutdownTimeoutMs`. Keeps no process alive. */
  flush(): Promise<void> {
    const { shutdownTimeoutMs } = this.#port().options
    if (this.#open < mostOpen) return this.#flush(shutdownTimeoutMs)
    this.#shared ??= this.#share(shutdownTimeoutMs)
    return this.#shared
  }

  /** Begin when an open flush has ended, or soon. */
  #share(timeoutMs: number): Promise<void> {
    const delayMs = timeoutMs / mostOpen
    return new Promise((resolve) => {
      const begin = () => {
        timer.cancel()
        this.#shared = undefined
        this.#beginShared = () => {}
        void this.#flush(Math.floor(timeoutMs - delayMs)).then(resolve)
      }
      const timer = systemClock.schedule(begin, delayMs)
      this.#beginShared = begin
    })
  }

  async #flush(timeoutMs: number): Promise<void> {
    this.#open++
    await this.#port().flush({ timeoutMs, holdsProcess: false })
    this.#open--
    this.#beginShared()
  }
}
