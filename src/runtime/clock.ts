import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import { runInThisContext } from 'node:vm'

/**
 * The timers of Node itself. A test may replace those of the global object by fake timers, which stand still: a `flush` that waited for
 * one of them would never end.
 */
export { setImmediate }
export const queueMicrotask: (task: () => void) => void = runInThisContext('queueMicrotask')

/** Time for delivery: a port, so that an hour of outage is a test of milliseconds. */
export interface Clock {
  /** Monotonic milliseconds, untouched by changes of the wall clock. */
  now(): number
  /** Call `task` once after `delayMs`. With `keepAlive` the timer holds the process until it fires or is cancelled. */
  schedule(task: () => void, delayMs: number, keepAlive?: boolean): Timer
}

export interface Timer {
  cancel(): void
}

/** The machine's monotonic clock. Timers keep the process alive only with `keepAlive`. */
export const systemClock: Clock = {
  now: performance.now.bind(performance),
  schedule(task, delayMs, keepAlive = false) {
    const handle = setTimeout(task, Math.min(Math.max(0, delayMs), longestTimeout))
    if (!keepAlive) handle.unref()
    return { cancel: () => clearTimeout(handle) }
  },
}

/** `setTimeout` fires at once above 2^31 - 1. */
const longestTimeout = 2_147_483_647

/** Resolves after `ms` milliseconds, unless it is cancelled. */
export function after(ms: number, keepAlive = false): { readonly over: Promise<void>; readonly cancel: () => void } {
  let timer: Timer | undefined
  const over = new Promise<void>((resolve) => {
    timer = systemClock.schedule(resolve, ms, keepAlive)
  })
  return { over, cancel: () => timer?.cancel() }
}
