import type { Clock } from '../runtime/clock.js'
import type { Settled } from './attempt.js'
import { type BackoffBounds, fullJitter } from './backoff.js'
import { Refusals } from './breakers.js'
import { Course, type Sent } from './course.js'
import type { Lane } from './lane.js'
import type { LedgerBook } from './ledger-book.js'
import type { Observer } from './observer.js'
import type { Pending } from './record-queue.js'
import {
  asksForLess,
  type Failure,
  isDenial,
  mayBeItsOwn,
  noWait,
  patienceMs,
  type Refusal,
  reasonOf,
  type Wait,
  waitOf,
} from './rules.js'
import type { BlockingSender, Outcome } from './sender.js'
import { maxDrainAttempt } from './suspects.js'
import { Suspicion } from './suspicion.js'

export interface LastDrainPlan {
  readonly lanes: readonly Lane[]
  readonly book: LedgerBook
  readonly tell: (message: (observer: Observer) => void) => void
  /** The service has taken or judged a record. */
  readonly settled: (lane: Lane, record: Pending, outcome: Settled) => void
  /** The record is in flight, and is given up. */
  readonly reject: (lane: Lane, record: Pending, rejection: Settled) => void
  readonly sender: BlockingSender
  readonly clock: Clock
  readonly random: () => number
  readonly retry: BackoffBounds
  readonly maxConnections: number
  readonly requestTimeoutMs: number
  /** On the clock. */
  readonly deadline: number
}

/** What went wrong with a record that was sent, where there is no time to wait any longer. */
export const noAnswer = 'the service did not answer in time'

/**
 * The drain of a process that is ending: the event loop does not turn any more, so that this thread sends and waits step by step. It
 * keeps the rules of every drain: value records and the most severe lines first, one probe for a lane that was held, no request
 * inside a Retry-After, no waiting for a lane that is paused, and no record that holds up the others.
 */
export class LastDrain {
  readonly #plan: LastDrainPlan
  readonly #courses: readonly Course[]
  readonly #underWay = new Map<number, Sent>()
  readonly #refusals: Refusals
  readonly #patienceMs: number
  #nextId = 0

  constructor(plan: LastDrainPlan) {
    this.#plan = plan
    this.#refusals = new Refusals(plan.lanes)
    this.#patienceMs = patienceMs(plan.requestTimeoutMs, { draining: true })
    // Value records before log records.
    const lanes = [...plan.lanes].sort((a, b) => Number(b.name.kind === 'values') - Number(a.name.kind === 'values'))
    const { maxConnections } = plan
    const now = plan.clock.now()
    this.#courses = lanes.map((lane) => new Course(lane, { maxConnections, now }))
  }

  /** Send what may be sent, and wait for answers, for `waitMs` at most. True when there is nothing more to do, or no time to do it. */
  step(waitMs: number): boolean {
    const { clock, sender, deadline } = this.#plan
    const now = clock.now()
    if (now >= deadline) return this.#end()
    for (const course of this.#courses) this.#send(course, now)
    const next = Math.min(...this.#courses.map((course) => this.#nextMoment(course, now)))
    if (this.#underWay.size === 0 && next >= deadline) return this.#end()
    for (const { id, outcome } of sender.answers(Math.min(next, deadline, now + waitMs) - now))
      this.#settle(id, outcome)
    return false
  }

  #end(): true {
    for (const { course, record } of this.#underWay.values()) {
      const { lane, failures } = course
      if (failures === 0 && lane.hold === undefined) this.#plan.book.lastError(lane.index, noAnswer)
      this.#plan.book.putBack(lane.index, { ambiguous: true })
      lane.ready.putBack(record)
    }
    for (const { lane, waiting } of this.#courses) {
      lane.gather()
      for (const { record } of waiting) lane.ready.putBack(record)
    }
    this.#underWay.clear()
    return true
  }

  #send(course: Course, now: number): void {
    const { lane } = course
    if (course.over || course.notBefore > now) return
    for (const record of course.takeDue(now, 'others')) lane.ready.putBack(record)
    for (let room = this.#room(course, now); room > 0; room--) {
      // Beside what waits long for its answer, a record from elsewhere in the queue.
      const beside = course.inFlight >= course.allowed
      const record = course.held || beside ? lane.probes.next(lane, { beside }) : lane.cut(1)[0]
      const next = record ?? this.#takeSuspect(course, now)
      if (next === undefined) return
      this.#begin(course, next, now)
    }
  }

  /** Suspects take up a quarter of the connections at most. */
  #takeSuspect(course: Course, now: number): Pending | undefined {
    return course.suspects < Math.max(1, course.allowed >> 2) ? course.takeDue(now, 'suspect')[0] : undefined
  }

  #begin(course: Course, record: Pending, now: number): void {
    const { lane } = course
    const id = this.#nextId++
    this.#plan.book.depart(lane.index, { retry: record.attempts > 0 })
    record.attempts++
    course.inFlight++
    if (record.suspicion !== undefined) course.suspects++
    this.#underWay.set(id, { course, record, at: now, settledBefore: lane.settled, asked: course.held })
    this.#plan.sender.begin({ ...lane.name, id, record })
  }

  /**
   * Requests that may be sent now. Those that have waited long do not count, as soon as others get their answers; before that one of them
   * does not.
   */
  #room(course: Course, now: number): number {
    const free = course.allowed - course.inFlight
    if (free > 0) return free
    const stuck = this.#sentOf(course).filter(({ at }) => now - at >= this.#patienceMs)
    const proven = stuck.filter(({ settledBefore }) => course.lane.settled > settledBefore)
    const most = this.#plan.maxConnections - course.inFlight
    return Math.min(most, free + Math.max(proven.length, Math.min(1, stuck.length)))
  }

  #nextMoment(course: Course, now: number): number {
    const next = course.nextMoment(now)
    if (next === Number.POSITIVE_INFINITY || this.#room(course, now) > 0) return next
    const patient = this.#sentOf(course).map(({ at }) => at + this.#patienceMs)
    return Math.max(next, Math.min(...patient.filter((at) => at > now)))
  }

  #sentOf(course: Course): Sent[] {
    return [...this.#underWay.values()].filter((sent) => sent.course === course)
  }

  #settle(id: number, outcome: Outcome): void {
    const sent = this.#underWay.get(id)
    if (sent === undefined) return
    this.#underWay.delete(id)
    const { course, record } = sent
    course.inFlight--
    if (record.suspicion !== undefined) course.suspects--
    if (outcome.type === 'retry' || outcome.type === 'pause') this.#failed(sent, outcome)
    else {
      this.#plan.settled(course.lane, record, outcome)
      this.#succeeded(course)
    }
  }

  #succeeded(course: Course): void {
    const { lane } = course
    course.window = Math.min(this.#plan.maxConnections, course.window + 1)
    course.failures = 0
    this.#refusals.clear(lane)
    if (!course.held) return
    course.held = false
    course.notBefore = Number.NEGATIVE_INFINITY
    const { atFault, unsent, others, confirmed } = lane.probes.over(this.#plan.clock.now())
    if (!confirmed) course.window = 2
    for (const record of others) lane.ready.putBack(record)
    for (const record of atFault) record.suspicion = new Suspicion()
    const notBefore = Number.NEGATIVE_INFINITY
    course.waiting = [...course.waiting, ...[...unsent, ...atFault].map((record) => ({ record, notBefore }))]
  }

  #failed(sent: Sent, outcome: Failure): void {
    const { course, record, asked, settledBefore } = sent
    const { lane } = course
    if (record.suspicion !== undefined) {
      this.#suspectFailed(sent, outcome)
      return
    }
    const others = !asked && lane.settled > settledBefore
    if (asksForLess(outcome, { others, own: false })) course.window = Math.max(1, course.window >> 1)
    this.#putBack(lane, outcome)
    if (isDenial(outcome)) {
      lane.ready.putBack(record)
      this.#pause(course, outcome)
    } else if (!others) this.#question(sent, outcome)
    else if (mayBeItsOwn(outcome)) this.#suspect(course, record, this.#waitOf(outcome))
    else this.#wait(course, record, { attempt: record.attempts - 1 })
  }

  #suspectFailed({ course, record, settledBefore }: Sent, outcome: Failure): void {
    const { lane } = course
    const own = mayBeItsOwn(outcome)
    const now = this.#plan.clock.now()
    const rejection = own ? record.suspicion!.failed(outcome, { lane, now }) : undefined
    if (rejection !== undefined) {
      this.#plan.reject(lane, record, rejection)
      return
    }
    this.#putBack(lane, outcome)
    this.#wait(course, record, { attempt: record.suspicion!.attempts, wait: this.#waitOf(outcome) })
    if (isDenial(outcome)) this.#pause(course, outcome)
    else if (!own && lane.settled === settledBefore) this.#keepOut(course, noWait)
  }

  /** Nothing succeeded beside this record: it is at fault, or the service is. */
  #question({ course, record, asked }: Sent, outcome: Failure): void {
    const { lane } = course
    const { probes } = lane
    const now = this.#plan.clock.now()
    const own = mayBeItsOwn(outcome)
    const counts = own && (asked || !course.held)
    if (asked) probes.failed(record, { own, again: lane.hold?.kind === 'paused', now })
    else if (!course.held) probes.open(own ? [record] : [], now)
    else if (own) probes.join(record)
    if (!own && !asked) lane.ready.putBack(record)
    const cause =
      counts && outcome.type === 'pause' ? this.#refusals.confirmed(outcome, { lane, record, now }) : undefined
    if (cause !== undefined) this.#pause(course, cause)
    else this.#keepOut(course, this.#waitOf(outcome))
  }

  #keepOut(course: Course, wait: Wait): void {
    const { clock, retry, random } = this.#plan
    const { lane } = course
    const atOnce = lane.probes.confirming && lane.ready.length > 0
    course.held = true
    // The wait that the record was told may be its own: one other record tells.
    if (atOnce) return
    course.notBefore = Math.max(course.notBefore, course.honoured(wait))
    if (lane.hold?.kind === 'paused') course.over = true
    if (course.inFlight > 0) return
    const backoff = fullJitter(Math.min(course.failures++, maxDrainAttempt), retry, random)
    course.notBefore = Math.max(course.notBefore, clock.now() + backoff)
  }

  #pause(course: Course, cause: Refusal): void {
    if (!course.over) this.#plan.tell((observer) => observer.paused(course.lane.name, cause))
    for (const each of cause.scope === 'key' ? this.#courses : [course]) each.over = true
  }

  #suspect(course: Course, record: Pending, wait: Wait): void {
    record.suspicion = new Suspicion()
    this.#wait(course, record, { attempt: 0, wait })
  }

  #wait(
    course: Course,
    record: Pending,
    { attempt, wait = noWait }: { attempt: number; wait?: Wait | undefined },
  ): void {
    const { clock, retry, random } = this.#plan
    const backoff = fullJitter(Math.min(attempt, maxDrainAttempt), retry, random)
    course.waiting = [...course.waiting, { record, notBefore: Math.max(wait.notBefore, clock.now() + backoff) }]
  }

  #waitOf(outcome: Failure): Wait {
    return waitOf(outcome, this.#plan.clock.now())
  }

  /** In the ledger. */
  #putBack(lane: Lane, outcome: Failure): void {
    const { book } = this.#plan
    book.putBack(lane.index, { ambiguous: outcome.type === 'retry' && outcome.exchange === 'ambiguous' })
    book.lastError(lane.index, reasonOf(outcome))
  }
}
