import type { DrainMode } from '../control/control-block.js'
import type { FlushOptions } from '../engine/ports.js'
import type { Clock } from '../runtime/clock.js'

/** A drain for the engine that delivers. */
export interface DrainRequest {
  readonly request: number
  readonly mode: DrainMode
  /** Time left until its deadline. */
  readonly timeoutMs: number
  /** True where the process stays alive until the answer, or the deadline. */
  readonly holdsProcess: boolean
  /** True where a service is not waited for at whose address nothing has ever listened. @default false */
  readonly brief?: boolean | undefined
}

/** The time of a drain, and how it is made. */
export type DrainTime = Pick<DrainRequest, 'timeoutMs' | 'brief'> & { readonly holdsProcess?: boolean | undefined }

/** The time of a drain that an application or the end of its process asks for. */
export function timeOf(
  { timeoutMs, brief = timeoutMs === undefined, holdsProcess }: FlushOptions = {},
  { shutdownTimeoutMs }: { readonly shutdownTimeoutMs: number },
): DrainTime {
  return { timeoutMs: timeoutMs ?? shutdownTimeoutMs, brief, holdsProcess }
}

/** Tells the whole milliseconds that are left of a time which begins now. */
export function timeLeft(clock: Clock, timeoutMs: number): () => number {
  const deadline = clock.now() + timeoutMs
  return () => Math.max(0, Math.round(deadline - clock.now()))
}

interface Open {
  readonly mode: DrainMode
  readonly leftMs: () => number
  readonly holdsProcess: boolean
  readonly brief: boolean
  readonly settle: () => void
}

/** At the end of the process a thread has this time to answer, where no other is left: with it lines reach the spool. */
export const endGraceMs = 50
const graceMs = 10
/** Records of a park must count as spooled, even on a busy machine. */
const longestParkGraceMs = 400
const shortestParkGraceMs = 30

/** Time that the answer of a drain has after the deadline: within a quarter of the whole, or 50 ms. */
export function drainGraceMs(mode: DrainMode, timeoutMs: number): number {
  if (mode !== 'park') return graceMs
  return Math.min(longestParkGraceMs, Math.max(shortestParkGraceMs, timeoutMs * 0.2))
}

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
  begin(mode: DrainMode, { timeoutMs, holdsProcess = true, brief = false }: DrainTime): Promise<void> {
    return new Promise((resolve) => {
      const request = this.#next++
      const settle = () => {
        timer.cancel()
        this.#open.delete(request)
        resolve()
      }
      const timer = this.#clock.schedule(settle, timeoutMs + drainGraceMs(mode, timeoutMs), holdsProcess)
      this.#open.set(request, { mode, leftMs: timeLeft(this.#clock, timeoutMs), holdsProcess, brief, settle })
      this.#ask({ request, mode, timeoutMs, holdsProcess, brief })
    })
  }

  /** True while somebody waits for an answer, which only the event loop brings. */
  get areOpen(): boolean {
    return this.#open.size > 0
  }

  answered(request: number): void {
    this.#open.get(request)?.settle()
  }

  /** Ask for every open drain again: another engine delivers now. */
  askAgain(): void {
    for (const [request, { mode, leftMs, holdsProcess, brief }] of this.#open) {
      this.#ask({ request, mode, timeoutMs: leftMs(), holdsProcess, brief })
    }
  }
}
