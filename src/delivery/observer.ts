import type { DropReason, LaneName } from './ledger.js'
import type { Outcome } from './sender.js'

/** The port through which delivery tells what somebody should know. What it throws is ignored. */
export interface Observer {
  /** `count` records were given up. */
  dropped(lane: LaneName, loss: { reason: DropReason; count: number }): void
  /** The service refused one record for what it contains. */
  rejected(lane: LaneName, refusal: Outcome & { type: 'rejected' }): void
  /** The lane holds its records until somebody mends the key, bucket, plan or URL. */
  paused(lane: LaneName, cause: Outcome & { type: 'pause' }): void
  /** The lane has been in an outage for a while: the service is out of reach or fails, records wait, one probe at a time. */
  outage(lane: LaneName, cause: { readonly reason: string }): void
  /** A lane delivers again that was told to be paused or in an outage. */
  resumed(lane: LaneName): void
  /** A lane that had to give up records delivers again and has room; at most once a minute. */
  recovered(lane: LaneName, losses: Losses): void
}

/** Records that a lane gave up since it last said so. */
export interface Losses {
  readonly byReason: ReadonlyMap<DropReason, number>
  /** First and last of them, on the clock. */
  readonly sinceMs: number
  readonly untilMs: number
}

/** Adds up what a lane gives up, until there is an occasion to say so in the lane itself. */
export class LossTally {
  #byReason = new Map<DropReason, number>()
  #sinceMs = 0
  #untilMs = 0
  #toldAt = Number.NEGATIVE_INFINITY

  add({ reason, count = 1 }: { readonly reason: DropReason; readonly count?: number }, now: number): void {
    if (this.#byReason.size === 0) this.#sinceMs = now
    this.#untilMs = now
    this.#byReason.set(reason, (this.#byReason.get(reason) ?? 0) + count)
  }

  /** What is to be told, at most once a minute; undefined when there is nothing. */
  take(now: number): Losses | undefined {
    if (this.#byReason.size === 0 || now - this.#toldAt < quietMs) return undefined
    const losses = { byReason: this.#byReason, sinceMs: this.#sinceMs, untilMs: this.#untilMs }
    this.#byReason = new Map()
    this.#toldAt = now
    return losses
  }
}

const quietMs = 60_000
