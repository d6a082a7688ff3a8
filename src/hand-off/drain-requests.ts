import type { Clock } from '../runtime/clock.js'

/** `park`: flush, and leave the rest to the spool. */
export type DrainMode = 'flush' | 'park' | 'close'

/** A drain for the engine that delivers. */
export interface DrainRequest {
  readonly request: number
  readonly mode: DrainMode
  /** Time left until its deadline. */
  readonly timeoutMs: number
  /** True where the process stays alive until the answer, or the deadline. */
  readonly holdsProcess: boolean
}

interface Open {
  readonly mode: DrainMode
  readonly deadline: number
  readonly holdsProcess: boolean
  readonly settle: () => void
}

/** Time that the answer of a drain has after the deadline. A park has more: its records must count as spooled, even on a busy machine. */
export const drainGraceMs: Readonly<Record<DrainMode, number>> = { flush: 10, park: 400, close: 10 }

/** The drains that no worker has answered yet. Each resolves by its deadline, whatever the worker does. */
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

  /** Ask for a drain. */
  begin(mode: DrainMode, timeoutMs: number, holdsProcess = true): Promise<void> {
    return new Promise((resolve) => {
      const request = this.#next++
      const settle = () => {
        timer.cancel()
        this.#open.delete(request)
        resolve()
      }
      const timer = this.#clock.schedule(settle, timeoutMs + drainGraceMs[mode], holdsProcess)
      this.#open.set(request, { mode, deadline: this.#clock.now() + timeoutMs, holdsProcess, settle })
      this.#ask({ request, mode, timeoutMs, holdsProcess })
    })
  }

  answered(request: number): void {
    this.#open.get(request)?.settle()
  }

  /** Ask for every open drain again: another engine delivers now. */
  askAgain(): void {
    for (const [request, { mode, deadline, holdsProcess }] of this.#open) {
      const timeoutMs = Math.max(0, Math.round(deadline - this.#clock.now()))
      this.#ask({ request, mode, timeoutMs, holdsProcess })
    }
  }
}
