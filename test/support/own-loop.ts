import type { Clock, Timer } from '../../src/runtime/clock.js'
import type { Loop } from '../../src/runtime/loop.js'
import { TimeHeap } from './time-heap.js'

interface Alarm {
  readonly at: number
  readonly task: () => void
  cancelled: boolean
}

/** A loop of its own, for a thread that does not return to its event loop: nothing happens but in its turns. */
export abstract class OwnLoop implements Loop {
  readonly #clock: Clock
  readonly #alarms = new TimeHeap<Alarm>()
  readonly #soon: (() => void)[] = []

  constructor(clock: Clock) {
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

  abstract immediate(task: () => void): void

  /** On the clock: when the next timer is due; infinity without one. */
  protected get nextAt(): number {
    while (this.#alarms.first?.cancelled) this.#alarms.removeFirst()
    return this.#alarms.first?.at ?? Number.POSITIVE_INFINITY
  }

  /** Run the timer that is due next. */
  protected runTimer(): void {
    const { task } = this.#alarms.first!
    this.#alarms.removeFirst()
    this.run(task)
  }

  /** Run a task, and then what is to come soon. */
  protected run(task: () => void = () => {}): void {
    task()
    for (let soon = this.#soon.shift(); soon !== undefined; soon = this.#soon.shift()) soon()
  }
}
