import type { Clock } from '../runtime/clock.js'

/** `park`: flush, and leave the rest to the spool. */
export type DrainMode = 'flush' | 'park' | 'close'

/** A drain as it is asked of whoever delivers. */
export interface DrainRequest {
  readonly request: number
  readonly mode: DrainMode
  /** What is left until its deadline. */
  readonly timeoutMs: number
}

interface Open {
  readonly mode: DrainMode
  readonly deadline: number
  readonly settle: () => void
}

/** How much later than its deadline a drain gives up an answer. What is left to the spool is counted there, however busy the machine. */
export const drainGraceMs: Readonly<Record<DrainMode, number>> = { flush: 10, park: 400, close: 10 }

/** Drains that a worker has been asked for and has not answered; each ends by its deadline, whatever the worker does. */
export class DrainRequests {
  readonly #clock: Clock
  readonly #ask: (request: DrainRequest) => void
  readonly #open = new Map<number, Open>()
  #next = 0

  /** @param plan `ask` must not throw; the answer may come before it returns */
  constructor(plan: { readonly clock: Clock; readonly ask: (request: DrainRequest) => void }) {
    this.#clock = plan.clock
    this.#ask = plan.ask
  }

  /** Ask for a drain; holds the process until it is answered, or its deadline. */
  begin(mode: DrainMode, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const request = this.#next++
      const settle = () => {
        timer.cancel()
        this.#open.delete(request)
        resolve()
      }
      const timer = this.#clock.schedule(settle, timeoutMs + drainGraceMs[mode], true)
      this.#open.set(request, { mode, deadline: this.#clock.now() + timeoutMs, settle })
      this.#ask({ request, mode, timeoutMs })
    })
  }

  answered(request: number): void {
    this.#open.get(request)?.settle()
  }

  /** Somebody else delivers now. */
  askAgain(): void {
    for (const [request, { mode, deadline }] of this.#open) {
      this.#ask({ request, mode, timeoutMs: Math.max(0, Math.round(deadline - this.#clock.now())) })
    }
  }
}
