import type { Clock, Timer } from '../../src/delivery/clock.js'

interface Alarm {
  readonly at: number
  readonly task: () => void
}

/** Time that moves only when a test moves it. */
export class VirtualClock implements Clock {
  #now = 0
  readonly #alarms = new Set<Alarm>()

  now(): number {
    return this.#now
  }

  schedule(task: () => void, delayMs: number): Timer {
    const alarm = { at: this.#now + Math.max(0, delayMs), task }
    this.#alarms.add(alarm)
    return { cancel: () => void this.#alarms.delete(alarm) }
  }

  get timers(): number {
    return this.#alarms.size
  }

  /** Let `ms` pass: every timer that comes due fires in order, and what it sets off has run before the next. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await settle()
    for (;;) {
      const next = [...this.#alarms].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.#alarms.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.task()
      await settle()
    }
    this.#now = end
    await settle()
  }
}

/** Let everything that needs no time happen. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}
