import type { Lane } from './lane.js'
import type { DeliveryPlan } from './plan.js'
import type { Pending } from './record-queue.js'
import {
  backoffMs,
  nextWindow,
  noAnswer,
  noWait,
  overdueOf,
  suspectsBeside,
  type Unanswered,
  type Wait,
  windowAfterOutage,
} from './rules.js'
import { Suspicion } from './suspicion.js'

interface DrainingLanePlan extends Pick<DeliveryPlan, 'clock' | 'random' | 'retry' | 'maxConnections'> {
  /** After this time another record is tried beside one that waits for its answer. */
  readonly patienceMs: number
}

/** A request of the last drain that is in flight. */
export interface Sent extends Unanswered {
  readonly draining: DrainingLane
  readonly record: Pending
  /** True when it tests the service for a lane whose breaker is open. */
  readonly asked: boolean
}

/** A record that waits for its own next attempt: a suspect, or one that could not be sent. */
interface Waiting {
  readonly record: Pending
  /** On the clock. */
  readonly notBefore: number
}

/** A lane in the last drain: chooses the records that go out next, and when. */
export class DrainingLane {
  readonly lane: Lane
  readonly #plan: DrainingLanePlan
  /** On the clock. */
  readonly #startedAt: number
  readonly #inFlight = new Set<Sent>()
  /** Requests that may be in flight, one on each connection. */
  #window: number
  #breakerOpen: boolean
  #over = false
  /** Waits of the whole lane since its last success; each is longer than the one before. */
  #failures = 0
  /** On the clock: the lane sends nothing before. */
  #notBefore: number
  #waiting: readonly Waiting[]

  constructor(lane: Lane, plan: DrainingLanePlan) {
    lane.sendSevereFirst()
    lane.grantLastChance()
    const { connections, depth } = lane.concurrency
    this.lane = lane
    this.#plan = plan
    this.#startedAt = plan.clock.now()
    this.#breakerOpen = lane.breaker !== undefined
    this.#window = this.#breakerOpen ? 1 : Math.min(plan.maxConnections, connections * depth)
    this.#notBefore = lane.honour(lane.breaker?.wait ?? noWait)
    this.#waiting = [...lane.delayed.clear(), ...lane.suspects.clear()].map(({ record, ...wait }) =>
      waiting(record, wait),
    )
  }

  /** True while nothing has succeeded of late: one record at a time tests the service. */
  get breakerOpen(): boolean {
    return this.#breakerOpen
  }

  /** True when its key, its bucket or its plan was refused: it sends nothing any more. */
  get over(): boolean {
    return this.#over
  }

  /** Send the records that may be sent now. */
  send(now: number, begin: (sent: Sent) => void): void {
    const { lane } = this
    if (this.#over || this.#notBefore > now) return
    for (const record of this.#takeDue(now, 'others')) lane.ready.putBack(record)
    for (let room = this.#room(now); room > 0; room--) {
      // Beside a request that waits long for its answer, a record from elsewhere in the queue.
      const beside = this.#inFlight.size >= this.#allowed
      const record = this.#breakerOpen || beside ? lane.probes.next(lane, { beside }) : lane.takeNext()
      const next = record ?? this.#takeSuspect(now)
      if (next === undefined) return
      lane.depart(next)
      const sent = {
        draining: this,
        record: next,
        waitsSince: now,
        settledBefore: lane.settled,
        asked: this.#breakerOpen,
      }
      this.#inFlight.add(sent)
      begin(sent)
    }
  }

  /** The moment, on the clock, at which it can send next; infinity when it has nothing to send. */
  nextMoment(now: number): number {
    if (this.#over) return Number.POSITIVE_INFINITY
    const { ready, probes } = this.lane
    const first = ready.length + probes.tried.length > 0 ? now : this.#firstWaiting
    const next = Math.max(this.#notBefore, first)
    if (next === Number.POSITIVE_INFINITY || this.#room(now) > 0) return next
    const patient = [...this.#inFlight].map(({ waitsSince }) => waitsSince + this.#plan.patienceMs)
    return Math.max(next, Math.min(...patient.filter((at) => at > now)))
  }

  /** A request is in flight no longer. */
  answered(sent: Sent): void {
    this.#inFlight.delete(sent)
  }

  /** The service has taken or judged a record. */
  succeeded(): void {
    const { lane } = this
    const { maxConnections, clock } = this.#plan
    this.#window = nextWindow(this.#window, { success: true, most: maxConnections })
    this.#failures = 0
    if (!this.#breakerOpen) return
    this.#breakerOpen = false
    this.#notBefore = Number.NEGATIVE_INFINITY
    const { atFault, unsent, others, confirmed } = lane.probes.over(clock.now(), { proven: true })
    if (!confirmed) this.#window = windowAfterOutage
    for (const record of others) lane.ready.putBack(record)
    for (const { record } of atFault) record.suspicion = new Suspicion()
    const due = [
      ...unsent.map((record) => waiting(record, noWait)),
      ...atFault.map(({ record, wait }) => waiting(record, wait)),
    ]
    this.#waiting = [...this.#waiting, ...due]
  }

  /** The service asks for less. */
  slowDown(): void {
    this.#window = nextWindow(this.#window, { success: false, most: this.#plan.maxConnections })
  }

  /** Nothing succeeded beside a record that failed: one record at a time goes out from here on. */
  openBreaker(wait: Wait): void {
    const { lane } = this
    const { clock } = this.#plan
    this.#breakerOpen = true
    // The wait may be meant for that record alone: another one finds out.
    if (lane.probes.confirming && lane.ready.length > 0) return
    this.#notBefore = Math.max(this.#notBefore, lane.honour(wait))
    if (lane.breaker?.cause === 'paused') this.#over = true
    if (this.#inFlight.size === 0) {
      this.#notBefore = Math.max(this.#notBefore, clock.now() + this.#backoffMs(this.#failures++))
    }
  }

  /** Send nothing any more. */
  end(): void {
    this.#over = true
  }

  /** A record waits for its own next attempt. */
  wait(record: Pending, { attempt, wait = noWait }: { readonly attempt: number; readonly wait?: Wait }): void {
    const notBefore = Math.max(wait.notBefore, this.#plan.clock.now() + this.#backoffMs(attempt))
    this.#waiting = [...this.#waiting, { record, notBefore }]
  }

  /** No time is left: all of its records are ready again. */
  takeBack(): void {
    const { lane } = this
    if (this.#inFlight.size > 0 && this.#failures === 0 && lane.breaker === undefined) lane.failed(noAnswer)
    for (const { record } of this.#inFlight) lane.takeBack(record)
    this.#inFlight.clear()
    lane.gather()
    for (const { record } of this.#waiting) lane.ready.putBack(record)
    this.#waiting = []
  }

  /** Requests that may be in flight now. */
  get #allowed(): number {
    return this.#breakerOpen ? 1 : this.#window
  }

  /**
   * Requests that may be sent now. Those that have waited long do not count once others have got their answers. Before that one of them
   * does not count.
   */
  #room(now: number): number {
    const free = this.#allowed - this.#inFlight.size
    if (free > 0) return free
    const { maxConnections, patienceMs } = this.#plan
    const { proven, unproven } = overdueOf(this.#inFlight, { now, patienceMs, settled: this.lane.settled })
    const beside = Math.max(proven.length, Math.min(1, unproven))
    return Math.min(maxConnections - this.#inFlight.size, free + beside)
  }

  /** Take the waiting records that are due: all that are no suspects, or one suspect. */
  #takeDue(now: number, which: 'suspect' | 'others'): readonly Pending[] {
    const taken = new Set<Waiting>()
    for (const each of this.#waiting) {
      const isSuspect = each.record.suspicion !== undefined
      if (each.notBefore > now || isSuspect !== (which === 'suspect') || this.#isGivenUp(each)) continue
      taken.add(each)
      if (isSuspect) break
    }
    if (taken.size > 0) this.#waiting = this.#waiting.filter((each) => !taken.has(each))
    return [...taken].map(({ record }) => record)
  }

  #takeSuspect(now: number): Pending | undefined {
    const suspects = [...this.#inFlight].filter(({ record }) => record.suspicion !== undefined)
    return suspects.length < suspectsBeside(this.#allowed) ? this.#takeDue(now, 'suspect')[0] : undefined
  }

  get #firstWaiting(): number {
    let first = Number.POSITIVE_INFINITY
    for (const each of this.#waiting) if (each.notBefore < first && !this.#isGivenUp(each)) first = each.notBefore
    return first
  }

  /** True for a suspect that failed within this drain, and too often without a success of its lane. */
  #isGivenUp({ record: { suspicion } }: Waiting): boolean {
    return suspicion?.isHopeless(this.lane, this.#startedAt) ?? false
  }

  #backoffMs(attempt: number): number {
    const { retry, random } = this.#plan
    return backoffMs(attempt, { retry, random, draining: true })
  }
}

/** A wait that is too long to honour is over: nothing comes after this drain. */
function waiting(record: Pending, { notBefore, excessive }: Wait): Waiting {
  return { record, notBefore: excessive ? Number.NEGATIVE_INFINITY : notBefore }
}
