import type { Timer } from '../../src/runtime/clock.js'
import type { Loop } from '../../src/runtime/loop.js'
import { TimeHeap } from './time-heap.js'

interface Alarm {
  readonly at: number
  readonly task: () => void
  readonly keepAlive: boolean
  cancelled: boolean
}

/** Time that moves only when a test moves it. */
export class VirtualClock implements Loop {
  #now = 0
  #pending = 0
  #holding = 0
  readonly #alarms = new TimeHeap<Alarm>()

  now(): number {
    return this.#now
  }

  schedule(task: () => void, delayMs: number, keepAlive = false): Timer {
    const at = this.#now + Math.max(0, delayMs)
    const alarm: Alarm = { at, task, keepAlive, cancelled: false }
    this.#alarms.add(alarm)
    this.#count(alarm, 1)
    return {
      cancel: () => {
        if (!alarm.cancelled) this.#count(alarm, -1)
        alarm.cancelled = true
      },
    }
  }

  /** Turns need no time: they go on while the test waits. */
  soon(task: () => void): void {
    queueMicrotask(task)
  }

  immediate(task: () => void): void {
    setImmediate(task)
  }

  /** Those among the timers that hold the process. */
  get holding(): number {
    return this.#holding
  }

  #count({ keepAlive }: Alarm, change: number): void {
    this.#pending += change
    if (keepAlive) this.#holding += change
  }

  /** Timers that are set and have neither fired nor been cancelled. */
  get timers(): number {
    return this.#pending
  }

  /** Let `ms` pass: every timer that comes due fires in order, and what it sets off has run before the next. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await settle()
    for (let next = this.#alarms.first; next !== undefined && next.at <= end; next = this.#alarms.first) {
      this.#alarms.removeFirst()
      if (next.cancelled) continue
      this.#now = Math.max(this.#now, next.at)
      next.cancelled = true
      this.#count(next, -1)
      next.task()
      // Timers of the same moment may fire together; what they set off runs before time goes on.
      if (this.#alarms.first?.at !== this.#now) await settle()
    }
    this.#now = end
    await settle()
  }

  /** The thread is busy, or stopped, for `ms`: what comes due meanwhile fires late, with the next `advance`. */
  block(ms: number): void {
    this.#now += ms
  }
}

/** Let everything that needs no time happen: promises settle completely between two turns of the event loop. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
