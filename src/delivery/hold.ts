import type { Clock, Timer } from './clock.js'
import type { Lane } from './lane.js'

/** Why lanes hold their records: the service is out of reach or out of order, or it wants something mended first. */
export type HoldKind = 'outage' | 'paused'

/**
 * Lanes that wait together and probe with one record at a time. An engine has one hold for outages and one for its key;
 * a lane whose bucket or plan is refused has one of its own.
 */
export class Hold {
  readonly kind: HoldKind
  readonly lanes = new Set<Lane>()
  /** Not even a drain sends before this moment (on the clock): the service asked for it. */
  notBefore = Number.NEGATIVE_INFINITY
  readonly #clock: Clock
  readonly #waitMs: (attempt: number) => number
  readonly #probe: (lane: Lane) => boolean
  #attempt = 0
  #timer: Timer | undefined
  #due = false
  #turn = 0

  constructor(plan: {
    readonly kind: HoldKind
    readonly clock: Clock
    /** Wait before the next probe, after `attempt` failed ones. */
    readonly waitMs: (attempt: number) => number
    /** Send one record of the lane; false when it has none to send. */
    readonly probe: (lane: Lane) => boolean
  }) {
    this.kind = plan.kind
    this.#clock = plan.clock
    this.#waitMs = plan.waitMs
    this.#probe = plan.probe
  }

  /** A lane joins, or its probe failed: wait, then probe again. */
  keep(lane: Lane, notBefore = Number.NEGATIVE_INFINITY): void {
    this.lanes.add(lane)
    lane.hold = this
    this.notBefore = Math.max(this.notBefore, notBefore)
    if (this.#timer !== undefined || this.#probing()) return
    const wait = Math.max(this.#waitMs(this.#attempt++), this.notBefore - this.#clock.now())
    this.#due = false
    this.#timer = this.#clock.schedule(() => this.#fire(), wait)
  }

  /** The lane's way is free again; the others of this hold try at once, one at a time. */
  release(lane: Lane): void {
    this.lanes.delete(lane)
    lane.hold = undefined
    this.#attempt = 0
    this.notBefore = Number.NEGATIVE_INFINITY
    this.#stopTimer()
    if (this.lanes.size > 0) this.#timer = this.#clock.schedule(() => this.#fire(), 0)
  }

  /** Records have come to a lane that had none to probe with. */
  supplied(): void {
    if (this.#due && !this.#probing()) this.#fire()
  }

  /** Probe this lane at once, for a drain; false when the service asked to wait, or there is nothing to send. */
  probeNow(lane: Lane): boolean {
    if (this.notBefore > this.#clock.now()) return false
    this.#stopTimer()
    if (lane.probing || this.#probe(lane)) return true
    if (!this.#probing()) this.#due = true
    return false
  }

  stop(): void {
    this.#stopTimer()
    this.#due = false
  }

  #fire(): void {
    this.#timer = undefined
    const lanes = [...this.lanes]
    for (let step = 0; step < lanes.length; step++) {
      const lane = lanes[(this.#turn + step) % lanes.length]!
      if (!this.#probe(lane)) continue
      this.#turn += step + 1
      this.#due = false
      return
    }
    this.#due = true
  }

  #probing(): boolean {
    for (const lane of this.lanes) if (lane.probing) return true
    return false
  }

  #stopTimer(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
