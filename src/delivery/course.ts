import type { Lane } from './lane.js'
import type { Pending } from './record-queue.js'
import { noWait } from './retry-after.js'
import { failuresInVain } from './suspicion.js'

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
  /** What the lane had settled when it left: if it has settled more since, others succeed. */
  readonly settledBefore: number
  /** The lane was held, and this finds out whether that is over. */
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
  /** Nothing is known but failures: one record at a time finds out whether the service takes records. */
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

  /** Until when this lane waits because the service asks for it. */
  honoured({ notBefore, excessive }: { readonly notBefore: number; readonly excessive: boolean }): number {
    if (!excessive || !this.lastChance) return notBefore
    this.lastChance = false
    return Number.NEGATIVE_INFINITY
  }

  /** Take what is due of those that wait: all that are no suspects, or one suspect. */
  takeDue(now: number, which: 'suspect' | 'others'): readonly Pending[] {
    const due = this.#hopeful.filter(
      ({ record, notBefore }) => notBefore <= now && (record.suspicion !== undefined) === (which === 'suspect'),
    )
    const taken = which === 'suspect' ? due.slice(0, 1) : due
    if (taken.length > 0) this.waiting = this.waiting.filter((each) => !taken.includes(each))
    return taken.map(({ record }) => record)
  }

  /** When it has something to send next, on the clock; never, when it has nothing. */
  nextMoment(now: number): number {
    if (this.over) return Number.POSITIVE_INFINITY
    const { ready, probes } = this.lane
    const next = ready.length + probes.tried.length > 0 ? now : Math.min(...this.#hopeful.map((each) => each.notBefore))
    return Math.max(this.notBefore, next)
  }

  /** Those that wait, but for suspects that failed within this drain, and failed in vain too often. */
  get #hopeful(): readonly Waiting[] {
    return this.waiting.filter(({ record: { suspicion } }) => {
      if (suspicion === undefined || suspicion.failedAt < this.#startedAt) return true
      return suspicion.inVain(this.lane) < failuresInVain
    })
  }
}
