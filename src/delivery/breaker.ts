import type { Clock, Timer } from '../runtime/clock.js'
import { noWait, type Wait } from './rules.js'

/** `outage`: the service is out of reach or fails. `paused`: it refuses the key, the bucket or the plan. */
export type BreakerCause = 'outage' | 'paused'

/** A lane, as its breaker sees it. */
export interface BreakerLane {
  /** Records that may go out now. */
  readonly ready: { readonly length: number }
  readonly probes: { readonly confirming: boolean; readonly tried: { readonly length: number } }
  /** True while a record is in flight that tests the service. */
  readonly probing: boolean
  readonly hasLastChance: boolean
  /** The moment, on the clock, before which the lane sends nothing. */
  honour(wait: Wait): number
  /** Send one record to test the service; false when there is none to send. */
  probe(): boolean
  breakerOpened(breaker: Breaker): void
  breakerClosed(): void
}

/**
 * Stops lanes from sending until a probe succeeds. Open: it waits. Half-open: one record of one of its lanes tests the service. Closed:
 * no lane waits. An engine has one breaker for outages and one for its key. A lane whose bucket or plan is refused has one of its own.
 */
export class Breaker {
  readonly cause: BreakerCause
  readonly #clock: Clock
  readonly #waitMs: (attempt: number) => number
  readonly #lanes = new Set<BreakerLane>()
  #status = 0
  #wait: Wait = noWait
  #attempt = 0
  #timer: Timer | undefined
  /** A probe is due, and no lane had a record for it. */
  #due = false
  #turn = 0
  #stopped = false

  constructor(plan: {
    readonly cause: BreakerCause
    readonly clock: Clock
    /** Wait before the next probe, after `attempt` failed ones. */
    readonly waitMs: (attempt: number) => number
  }) {
    this.cause = plan.cause
    this.#clock = plan.clock
    this.#waitMs = plan.waitMs
  }

  get state(): 'closed' | 'open' | 'half-open' {
    if (this.#lanes.size === 0) return 'closed'
    for (const lane of this.#lanes) if (lane.probing) return 'half-open'
    return 'open'
  }

  /** Status of the last answer that paused its lanes. */
  get status(): number {
    return this.#status
  }

  /** A wait that even a drain honours, except for a lane that has a last chance. */
  get wait(): Wait {
    return this.#wait
  }

  /**
   * Open for a lane, or stay open after its probe failed. With `atOnce` another record of the lane is sent at once, when there is one:
   * the wait that the service asked for may be meant for the first record alone.
   */
  open(
    lane: BreakerLane,
    { wait = noWait, atOnce, status }: { readonly wait?: Wait; readonly atOnce: boolean; readonly status?: number },
  ): void {
    this.#lanes.add(lane)
    if (status !== undefined) this.#status = status
    lane.breakerOpened(this)
    if (wait.notBefore > this.#wait.notBefore) this.#wait = wait
    const others = lane.ready.length > 0 || (this.cause === 'paused' && lane.probes.tried.length > 1)
    const asks = atOnce ? others : wait.excessive && lane.hasLastChance
    if (asks && (atOnce || this.#maySend(lane)) && lane.probe()) return
    if (this.#timer !== undefined || this.state === 'half-open') return
    this.#due = false
    this.#scheduleProbe(this.#attempt++)
  }

  /** Close for a lane. With `others` the lanes that still wait send probes at once, one at a time. */
  close(lane: BreakerLane, { others }: { readonly others: boolean }): void {
    this.#lanes.delete(lane)
    lane.breakerClosed()
    if (others || this.#lanes.size === 0) {
      this.#attempt = 0
      this.#wait = noWait
      this.#stopTimer()
      if (this.#lanes.size > 0) this.#schedule(0)
    } else this.goOn()
  }

  /** A probe has ended and says nothing, because its lane left or because it was given up: the next one comes as if it had never been. */
  goOn(): void {
    if (this.#timer === undefined && this.state === 'open' && !this.#stopped) this.#scheduleProbe(this.#attempt)
  }

  /** Records have come to a lane. */
  recordsCame(lane: BreakerLane): void {
    const { probes, ready } = lane
    if (this.#due && this.state !== 'half-open') this.#fire()
    else if (probes.confirming && ready.length > 0 && !lane.probing) lane.probe()
  }

  /** Probe with this lane at once, for a drain, unless the service asked to wait. */
  probeNow(lane: BreakerLane): void {
    if (!this.#maySend(lane)) return
    this.#stopTimer()
    if (!lane.probing && !lane.probe() && this.state !== 'half-open') this.#due = true
  }

  /** Send no probe any more. */
  stop(): void {
    this.#stopped = true
    this.#stopTimer()
    this.#due = false
  }

  #maySend(lane: BreakerLane): boolean {
    const now = this.#clock.now()
    return this.#wait.notBefore <= now || lane.honour(this.#wait) <= now
  }

  /** Send the next probe: lanes take turns. */
  #fire(): void {
    this.#timer = undefined
    const lanes = [...this.#lanes]
    for (let step = 0; step < lanes.length; step++) {
      const lane = lanes[(this.#turn + step) % lanes.length]!
      if (!lane.probe()) continue
      this.#turn += step + 1
      this.#due = false
      return
    }
    this.#due = true
  }

  #scheduleProbe(attempt: number): void {
    this.#schedule(Math.max(this.#waitMs(attempt), this.#wait.notBefore - this.#clock.now()))
  }

  #schedule(waitMs: number): void {
    this.#timer = this.#clock.schedule(() => this.#fire(), waitMs)
  }

  #stopTimer(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
