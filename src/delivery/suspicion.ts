import type { Failure, Rejection } from './rules.js'

/** Counts of a lane. */
export interface LaneProgress {
  /** Records that the service has taken. */
  readonly delivered: number
  /** Records that the service has taken or judged. */
  readonly settled: number
}

/** A suspect is rejected after this many failures, each with another record of its lane delivered since the one before. */
export const failuresToReject = 8
/** A drain gives up a suspect that failed within it, and this many times in a row without a success of its lane. */
const failuresInVain = 2

/** The history of a suspect: a record that failed where others of its lane succeeded. */
export class Suspicion {
  /** Failures that count: another record of the lane was delivered since the one before. */
  failures = 0
  /** All failures, for the backoff. */
  attempts = 0
  /** On the clock: the last failure. */
  failedAt = Number.NEGATIVE_INFINITY
  /** On the clock: the service asked not to be sent the record before. */
  notBefore = Number.NEGATIVE_INFINITY
  /** True when back-pressure made the record a suspect. */
  readonly askedForLess: boolean
  #inVain = 0
  // Others had succeeded when it became a suspect: its first failure counts.
  #delivered = -1
  #settled = -1

  constructor({ askedForLess = false } = {}) {
    this.askedForLess = askedForLess
  }

  /** It failed again, perhaps by its own fault. Returns its rejection after one failure too many. */
  failed(
    outcome: Failure,
    { lane, now }: { readonly lane: LaneProgress; readonly now: number },
  ): Rejection | undefined {
    if (lane.delivered > this.#delivered) this.failures++
    this.#inVain = this.inVain(lane) + 1
    this.#delivered = lane.delivered
    this.#settled = lane.settled
    this.attempts++
    this.failedAt = now
    return this.failures < failuresToReject ? undefined : rejection(outcome)
  }

  /** Failures in a row since the last success of the lane. */
  inVain(lane: LaneProgress): number {
    return lane.settled > this.#settled ? 0 : this.#inVain
  }

  /** True when a drain that began at `startedAt` gives the record up. */
  isHopeless(lane: LaneProgress, startedAt: number): boolean {
    return this.failedAt >= startedAt && this.inVain(lane) >= failuresInVain
  }
}

/** The status is that of the last answer; 0 when the last attempt got none. */
function rejection({ status = 0, reason }: Failure): Rejection {
  return {
    type: 'rejected',
    status,
    reason: `failed again and again while others were delivered; last: ${reason}`,
    validationErrors: [],
  }
}
