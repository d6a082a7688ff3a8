import type { Lane } from './lane.js'
import type { Pending } from './record-queue.js'
import { noWait } from './rules.js'

/** A record that waits for its own next attempt: a suspect, or one that could not be sent. */
export interface Waiting {
  readonly record: Pending
  /** On the clock. */
  readonly notBefore: number
}

/** One request of a last drain that is under way. */
export interface Sent {
  readonly course: Course
  readonly record: Pending
  /** On the clock. */
  readonly at: number
  /** Count of the lane when it left: if the lane has settled more since, others succeed. */
  readonly settledBefore: number
  /** The lane was held, and this request tests the service. */
  readonly asked: boolean
}

/** A lane as the last drain sees it. */
export class Course {
  readonly lane: Lane
  /** Requests that may be in flight, one on each connection: doubled per round trip, halved when the service asks for less. */
  window: number
  inFlight = 0
  /** Suspects among them. */
  suspects = 0
  /** Nothing has succeeded of late: one record at a time tests the service. */
  held: boolean
  /** Attempts in a row without a success, which a lane in outage waits longer and longer between. */
  failures = 0
  /** On the clock: the lane sends nothing before. */
  notBefore: number
  /** It may ignore once that the service asks for a longer wait than is honoured. */
  lastChance = true
  waiting: readonly Waiting[]
  /** Nothing more is to be expected: its key, its bucket or its plan was refused. */
  over = false
  /** On the clock. */
  readonly #startedAt: number

  constructor(lane: Lane, { maxConnections, now }: { readonly maxConnections: number; readonly now: number }) {
    lane.severeFirst = true
    const { connections, depth } = lane.concurrency
    this.lane = lane
    this.held = lane.hold !== undefined
    this.window = this.held ? 1 : Math.min(maxConnections, connections * depth)
    this.#startedAt = now
    this.notBefore = this.honoured(lane.hold?.wait ?? noWait)
    this.waiting = [...lane.delayed.clear(), ...lane.suspects.clear()].map(({ record, notBefore, excessive }) => ({
      record,
      notBefore: excessive ? Number.NEGATIVE_INFINITY : notBefore,
    }))
  }

  /** Requests that may be in flight now. */
  get allowed(): number {
    return this.held ? 1 : this.window
  }

  /** The moment before which this lane sends nothing, as the service asks. */
  honoured({ notBefore, excessive }: { readonly notBefore: number; readonly excessive: boolean }): number {
    if (!excessive || !this.lastChance) return notBefore
    this.lastChance = false
    return Number.NEGATIVE_INFINITY
  }

  /** Take the waiting records that are due: all that are no suspects, or one suspect. */
  takeDue(now: number, which: 'suspect' | 'others'): readonly Pending[] {
    const taken = new Set<Waiting>()
    for (const each of this.waiting) {
      const isSuspect = each.record.suspicion !== undefined
      if (each.notBefore > now || isSuspect !== (which === 'suspect') || this.#isGivenUp(each)) continue
      taken.add(each)
      if (isSuspect) break
    }
    if (taken.size > 0) this.waiting = this.waiting.filter((each) => !taken.has(each))
    return [...taken].map(({ record }) => record)
  }

  /** The moment, on the clock, at which it has something to send; infinity when it has nothing. */
  nextMoment(now: number): number {
    if (this.over) return Number.POSITIVE_INFINITY
    const { ready, probes } = this.lane
    const next = ready.length + probes.tried.length > 0 ? now : this.#firstWaiting
    return Math.max(this.notBefore, next)
  }

  get #firstWaiting(): number {
    let first = Number.POSITIVE_INFINITY
    for (const each of this.waiting) if (each.notBefore < first && !this.#isGivenUp(each)) first = each.notBefore
    return first
  }

  /** It failed within this drain, and in vain too often. */
  #isGivenUp({ record: { suspicion } }: Waiting): boolean {
    return suspicion?.isHopeless(this.lane, this.#startedAt) ?? false
  }
}
