import type { DropReason, LaneName } from './ledger.js'
import type { Refusal, Rejection } from './rules.js'

/** The port through which delivery reports events. What an implementation throws is ignored. */
export interface Observer {
  /** `count` records were given up. */
  dropped(lane: LaneName, loss: { reason: DropReason; count: number }): void
  /** The service refused one record for what it contains. `body` is the record's JSON. */
  rejected(lane: LaneName, rejection: Rejection & { readonly body: string }): void
  /** The lane keeps its records until the key, bucket, plan or URL is corrected. */
  paused(lane: LaneName, cause: Refusal): void
  /** The first connection was refused: nothing listens at the address of the service. At most once. */
  unreachable?(): void
  /**
   * The lane has been in an outage for a while: the service is out of reach or fails, records wait, one probe at a time. `isTold`: nothing
   * has ever listened there, as {@link unreachable} has said.
   */
  outage(lane: LaneName, cause: { readonly reason: string; readonly isTold?: boolean }): void
  /** A lane delivers again after a pause or an outage that was reported. */
  resumed(lane: LaneName): void
  /** A lane that had to give up records delivers again and has room; at most once a minute. */
  recovered(lane: LaneName, losses: Losses): void
}

/** The observer, made safe to call: what it throws cannot disturb delivery. */
export function guarded(observer: Observer): Observer {
  const guard = (report: () => void) => {
    try {
      report()
    } catch {
      // An application's listener must not be able to disturb delivery.
    }
  }
  return {
    dropped: (lane, loss) => guard(() => observer.dropped(lane, loss)),
    rejected: (lane, rejection) => guard(() => observer.rejected(lane, rejection)),
    paused: (lane, cause) => guard(() => observer.paused(lane, cause)),
    unreachable: () => guard(() => observer.unreachable?.()),
    outage: (lane, cause) => guard(() => observer.outage(lane, cause)),
    resumed: (lane) => guard(() => observer.resumed(lane)),
    recovered: (lane, losses) => guard(() => observer.recovered(lane, losses)),
  }
}

/** Records that a lane gave up since the last report. */
export interface Losses {
  readonly byReason: ReadonlyMap<DropReason, number>
  /** First and last of them, on the clock. */
  readonly sinceMs: number
  readonly untilMs: number
}

/** Adds up what a lane gives up, until the lane can deliver a report. */
export class LossTally {
  #byReason = new Map<DropReason, number>()
  #sinceMs = 0
  #untilMs = 0
  #reportedAt = Number.NEGATIVE_INFINITY

  add({ reason, count }: { readonly reason: DropReason; readonly count: number }, now: number): void {
    if (this.#byReason.size === 0) this.#sinceMs = now
    this.#untilMs = now
    this.#byReason.set(reason, (this.#byReason.get(reason) ?? 0) + count)
  }

  /** Take the losses to report, at most once a minute; undefined when there are none. */
  take(now: number): Losses | undefined {
    if (this.#byReason.size === 0 || now - this.#reportedAt < quietMs) return undefined
    const losses = { byReason: this.#byReason, sinceMs: this.#sinceMs, untilMs: this.#untilMs }
    this.#byReason = new Map()
    this.#reportedAt = now
    return losses
  }
}

const quietMs = 60_000
