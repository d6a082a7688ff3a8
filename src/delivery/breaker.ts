import type { Clock, Timer } from '../runtime/clock.js'
import type { Lane } from './lane.js'
import { noWait, type Wait } from './rules.js'

/** Why lanes hold their records: the service is out of reach or out of order, or it wants something mended first. */
export type HoldKind = 'outage' | 'paused'

/**
 * Lanes that wait together and probe with one record at a time. An engine has one hold for outages and one for its key;
 * a lane whose bucket or plan is refused has one of its own.
 */
export class Hold {
  readonly kind: HoldKind
  readonly lanes = new Set<Lane>()
  /** Not even a drain sends before, but for a lane that has its last chance. */
  wait: Wait = noWait
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

  /**
   * A lane joins, or its probe failed: wait, then probe again. With `atOnce` another record is sent at once, when there is one, whatever wait
   * the service has asked for.
   */
  keep(lane: Lane, { wait = noWait, atOnce = false }: { readonly wait?: Wait; readonly atOnce?: boolean } = {}): void {
    this.lanes.add(lane)
    lane.hold = this
    if (wait.notBefore > this.wait.notBefore) this.wait = wait
    const others = lane.ready.length > 0 || (this.kind === 'paused' && lane.probes.tried.length > 1)
    const asks = atOnce ? others : wait.excessive && lane.lastChance
    // The wait that a record was told may be its own: one other record tells.
    if (asks && (atOnce || this.#maySend(lane)) && this.#probe(lane)) return
    if (this.#timer !== undefined || this.#probing()) return
    const waitMs = Math.max(this.#waitMs(this.#attempt++), this.wait.notBefore - this.#clock.now())
    this.#due = false
    this.#schedule(waitMs)
  }

  /** The lane's way is free again; with `others` those that wait with it try at once, one at a time. */
  release(lane: Lane, { others }: { readonly others: boolean }): void {
    this.lanes.delete(lane)
    lane.hold = undefined
    if (others || this.lanes.size === 0) {
      this.#attempt = 0
      this.wait = noWait
      this.#stopTimer()
      if (this.lanes.size > 0) this.#schedule(0)
    } else if (this.#timer === undefined && !this.#probing()) this.#schedule(this.#waitMs(this.#attempt))
  }

  /** Records have come to a lane. */
  supplied(lane: Lane): void {
    const { probes, ready } = lane
    if (this.#due && !this.#probing()) this.#fire()
    else if (probes.confirming && ready.length > 0 && !lane.probing) this.#probe(lane)
  }

  /** Probe this lane at once, for a drain; false when the service asked to wait, or there is nothing to send. */
  probeNow(lane: Lane): boolean {
    if (!this.#maySend(lane)) return false
    this.#stopTimer()
    if (lane.probing || this.#probe(lane)) return true
    if (!this.#probing()) this.#due = true
    return false
  }

  stop(): void {
    this.#stopTimer()
    this.#due = false
  }

  #maySend(lane: Lane): boolean {
    if (this.wait.notBefore <= this.#clock.now()) return true
    if (!this.wait.excessive || !lane.lastChance) return false
    lane.lastChance = false
    return true
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

  #schedule(waitMs: number): void {
    this.#timer = this.#clock.schedule(() => this.#fire(), waitMs)
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
