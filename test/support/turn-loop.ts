import { OwnLoop } from './own-loop.js'
import type { VirtualClock } from './virtual-clock.js'

/** A loop for the last drain in virtual time: a turn moves time to the next timer. */
export class TurnLoop extends OwnLoop {
  readonly #clock: VirtualClock

  /** Of the thread that is blocked: its own timers do not fire meanwhile. */
  constructor(clock: VirtualClock) {
    super(clock)
    this.#clock = clock
  }

  immediate(task: () => void): void {
    this.schedule(task, 0)
  }

  turn(waitMs: number): void {
    this.run()
    const { nextAt } = this
    if (nextAt === Number.POSITIVE_INFINITY) throw new Error('nothing will ever happen')
    const end = this.now() + waitMs
    this.#clock.block(Math.max(0, Math.min(nextAt, end) - this.now()))
    if (nextAt <= end) this.runTimer()
  }
}
