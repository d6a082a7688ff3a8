// @ts-expect-error undici describes the types of its whole alone
import undiciTimers from 'undici/lib/util/timers.js'
import { loadUndici } from '../../src/http/load-undici.js'
import type { World } from './world.js'

// A world does not wait for files that are read in real time.
await loadUndici()

/** A timer as Node gives it. Undici and others use its methods. */
class GlobalTimer {
  readonly #task: () => void
  readonly #ms: number
  readonly #every: boolean
  #event: ReturnType<World['schedule']> | undefined

  constructor(task: () => void, ms: number, every: boolean) {
    this.#task = task
    this.#ms = ms
    this.#every = every
    this.refresh()
  }

  refresh(): this {
    this.close()
    this.#event = world?.schedule(() => {
      if (this.#every) this.refresh()
      this.#task()
    }, this.#ms)
    return this
  }

  close(): void {
    if (this.#event !== undefined) this.#event.cancelled = true
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return false
  }
}

let world: World | undefined

/**
 * Give libraries that the simulated code uses (undici, fastify) the time of a world: `Date.now`, `setTimeout` and `setInterval` of the
 * global object. Code of Sluice gets its time through its ports; `Date.now` is the exception.
 *
 * @returns gives the real time back
 */
export function useTimeOf(present: World): () => void {
  const real = { setTimeout, setInterval, clearTimeout, clearInterval, now: Date.now }
  world = present
  // undici has one clock for all its timers: it begins anew with each world.
  const { reset } = undiciTimers as { reset(): void }
  reset()
  const timer =
    (every: boolean) =>
    (task: (...values: unknown[]) => void, ms = 0, ...values: unknown[]) =>
      new GlobalTimer(() => task(...values), ms, every)
  const clear = (handle: unknown) => {
    if (handle instanceof GlobalTimer) handle.close()
    else if (handle !== undefined) real.clearTimeout(handle as NodeJS.Timeout)
  }
  Object.assign(globalThis, {
    setTimeout: timer(false),
    setInterval: timer(true),
    clearTimeout: clear,
    clearInterval: clear,
  })
  Date.now = () => Math.floor(present.wallClock(present.now))
  return () => {
    reset()
    const { now, ...timers } = real
    Object.assign(globalThis, timers)
    Date.now = now
    world = undefined
  }
}
