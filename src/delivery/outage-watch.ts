import type { Clock, Timer } from '../runtime/clock.js'
import type { Lane } from './lane.js'

/** An outage that lasts so long is worth reporter; most are over before anybody could do something about them. */
export const tellOutageAfterMs = 10_000

/** A timer that fires later than this was held up: the thread was busy or stopped, and nobody could deliver meanwhile. */
const maxLateMs = 1000

interface Outage {
  /** Why the last attempt failed. */
  reason: string
  told: boolean
  timer: Timer
}

/** Notices the outages of lanes that last. */
export class OutageWatch {
  readonly #clock: Clock
  readonly #tell: (lane: Lane, reason: string) => void
  readonly #outages = new Map<Lane, Outage>()

  constructor(plan: { readonly clock: Clock; readonly tell: (lane: Lane, reason: string) => void }) {
    this.#clock = plan.clock
    this.#tell = plan.tell
  }

  /** The lane is in an outage; perhaps it has been for a while. */
  goesOn(lane: Lane, reason: string): void {
    const outage = this.#outages.get(lane)
    if (outage !== undefined) {
      outage.reason = reason
      return
    }
    this.#outages.set(lane, { reason, told: false, timer: this.#watch(lane) })
  }

  /** The lane is in no outage. Whether somebody was told that it was. */
  over(lane: Lane): boolean {
    const outage = this.#outages.get(lane)
    outage?.timer.cancel()
    this.#outages.delete(lane)
    return outage?.told ?? false
  }

  stop(): void {
    for (const lane of [...this.#outages.keys()]) this.over(lane)
  }

  #watch(lane: Lane): Timer {
    const dueAt = this.#clock.now() + tellOutageAfterMs
    return this.#clock.schedule(() => this.#lasts(lane, this.#clock.now() - dueAt), tellOutageAfterMs)
  }

  #lasts(lane: Lane, lateMs: number): void {
    const outage = this.#outages.get(lane)!
    if (lateMs > maxLateMs) {
      outage.timer = this.#watch(lane)
      return
    }
    outage.told = true
    this.#tell(lane, outage.reason)
  }
}
