import type { Timer } from '../../src/runtime/clock.js'
import type { Loop } from '../../src/runtime/loop.js'
import { TimeHeap } from './time-heap.js'
import type { VirtualClock } from './virtual-clock.js'

interface Alarm {
  readonly at: number
  readonly task: () => void
  cancelled: boolean
}

/** A loop for the last drain in virtual time: nothing happens but in its turns, and a turn moves time to the next timer. */
export class TurnLoop implements Loop {
  readonly #clock: VirtualClock
  readonly #alarms = new TimeHeap<Alarm>()
  readonly #soon: (() => void)[] = []

  /** Of the thread that is blocked: its own timers do not fire meanwhile. */
  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock.now()
  }

  schedule(task: () => void, delayMs: number): Timer {
    const alarm: Alarm = { at: this.now() + Math.max(0, delayMs), task, cancelled: false }
    this.#alarms.add(alarm)
    return {
      cancel() {
        alarm.cancelled = true
      },
    }
  }

  soon(task: () => void): void {
    this.#soon.push(task)
  }

  immediate(task: () => void): void {
    this.schedule(task, 0)
  }

  turn(waitMs: number): void {
    this.#runSoon()
    while (this.#alarms.first?.cancelled) this.#alarms.removeFirst()
    const next = this.#alarms.first
    if (next === undefined) throw new Error('nothing will ever happen')
    const end = this.now() + waitMs
    this.#clock.block(Math.max(0, Math.min(next.at, end) - this.now()))
    if (next.at > end) return
    this.#alarms.removeFirst()
    next.task()
    this.#runSoon()
  }

  #runSoon(): void {
    for (let task = this.#soon.shift(); task !== undefined; task = this.#soon.shift()) task()
  }
}
