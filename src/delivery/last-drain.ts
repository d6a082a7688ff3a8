import { type BackoffBounds, fullJitter } from './backoff.js'
import type { Clock } from './clock.js'
import type { Lane } from './lane.js'
import type { LedgerBook } from './ledger-book.js'
import type { Observer } from './observer.js'
import type { Pending } from './record-queue.js'
import type { BlockingSender, Outcome } from './sender.js'

export interface LastDrainPlan {
  readonly lanes: readonly Lane[]
  readonly book: LedgerBook
  readonly tell: (message: (observer: Observer) => void) => void
  /** The service has taken or judged a record. */
  readonly settled: (lane: Lane, record: Pending, outcome: Outcome & { type: 'delivered' | 'rejected' }) => void
  readonly sender: BlockingSender
  readonly clock: Clock
  readonly random: () => number
  readonly retry: BackoffBounds
  readonly maxConnections: number
  /** On the clock. */
  readonly deadline: number
}

/** A record that waits for its own next attempt. */
interface Waiting {
  readonly record: Pending
  readonly notBefore: number
}

/** A lane as the last drain sees it. */
interface Course {
  readonly lane: Lane
  /** Requests that may be in flight, one on each connection: doubled per round trip, halved when the service asks for less. */
  window: number
  inFlight: number
  /** The service has taken or judged a record since the drain began. */
  succeeded: boolean
  /** Attempts in a row without a success, which a lane in outage waits longer and longer between. */
  failures: number
  /** The lane sends nothing before this moment; a record that failed among successes waits alone. */
  notBefore: number
  waiting: readonly Waiting[]
  /** Nothing more is to be expected: its key, its bucket or its plan was refused. */
  over: boolean
}

/** What went wrong with a record that was sent, where there is no time to wait any longer. */
export const noAnswer = 'the service did not answer in time'

/** While the end of the process waits, an outage's backoff grows no further than this. */
const maxFailures = 2

/**
 * The drain of a process that is ending: the event loop does not turn any more, so that this thread sends and waits step by step. It
 * keeps the rules of every drain: value records and the most severe lines first, one probe for a lane that was held, no request
 * inside a Retry-After, and no waiting for a lane that is paused.
 */
export class LastDrain {
  readonly #plan: LastDrainPlan
  readonly #courses: readonly Course[]
  readonly #underWay = new Map<number, { readonly course: Course; readonly record: Pending }>()
  #nextId = 0

  constructor(plan: LastDrainPlan) {
    this.#plan = plan
    // Value records before log records.
    const lanes = [...plan.lanes].sort((a, b) => Number(b.name.kind === 'values') - Number(a.name.kind === 'values'))
    const { maxConnections } = plan
    this.#courses = lanes.map((lane) => {
      lane.severeFirst = true
      const { connections, depth } = lane.concurrency
      return {
        lane,
        window: lane.hold === undefined ? Math.min(maxConnections, connections * depth) : 1,
        inFlight: 0,
        succeeded: false,
        failures: 0,
        notBefore: lane.hold?.notBefore ?? Number.NEGATIVE_INFINITY,
        waiting: lane.delayed.clear(),
        over: false,
      }
    })
  }

  /** Send what may be sent, and wait for answers, for `waitMs` at most. True when there is nothing more to do, or no time to do it. */
  step(waitMs: number): boolean {
    const { clock, sender, deadline } = this.#plan
    const now = clock.now()
    if (now >= deadline) return this.#end()
    for (const course of this.#courses) this.#send(course, now)
    const next = Math.min(...this.#courses.map((course) => nextMoment(course, now)))
    if (this.#underWay.size === 0 && next >= deadline) return this.#end()
    for (const { id, outcome } of sender.answers(Math.min(next, deadline, now + waitMs) - now))
      this.#settle(id, outcome)
    return false
  }

  #end(): true {
    for (const { course, record } of this.#underWay.values()) {
      const { lane, failures } = course
      if (failures === 0 && lane.hold === undefined) this.#plan.book.lastError(lane.index, noAnswer)
      this.#putBack(course, record, { ambiguous: true })
    }
    for (const { lane, waiting } of this.#courses) for (const { record } of waiting) lane.ready.putBack(record)
    this.#underWay.clear()
    return true
  }

  #send(course: Course, now: number): void {
    const { lane, waiting } = course
    if (course.over || course.notBefore > now) return
    if (firstOf(waiting) <= now) {
      for (const { record, notBefore } of waiting) if (notBefore <= now) lane.ready.putBack(record)
      course.waiting = waiting.filter(({ notBefore }) => notBefore > now)
    }
    for (const record of lane.cut(course.window - course.inFlight)) {
      const id = this.#nextId++
      this.#plan.book.depart(lane.index, { retry: record.attempts > 0 })
      record.attempts++
      course.inFlight++
      this.#underWay.set(id, { course, record })
      this.#plan.sender.begin({ ...lane.name, id, record })
    }
  }

  #settle(id: number, outcome: Outcome): void {
    const sent = this.#underWay.get(id)
    if (sent === undefined) return
    this.#underWay.delete(id)
    const { course, record } = sent
    const { index, name } = course.lane
    const { book, tell, settled } = this.#plan
    course.inFlight--
    if (outcome.type !== 'delivered') book.lastError(index, outcome.reason)
    switch (outcome.type) {
      case 'delivered':
      case 'rejected':
        settled(course.lane, record, outcome)
        this.#succeeded(course)
        return
      case 'pause':
        this.#putBack(course, record, { ambiguous: false })
        if (!course.over) tell((observer) => observer.paused(name, outcome))
        for (const each of outcome.scope === 'key' ? this.#courses : [course]) each.over = true
        return
      case 'retry':
        this.#retry(course, record, outcome)
    }
  }

  #succeeded(course: Course): void {
    course.succeeded = true
    course.window = Math.min(this.#plan.maxConnections, course.window + 1)
  }

  #retry(course: Course, record: Pending, outcome: Outcome & { type: 'retry' }): void {
    const { clock, retry, random } = this.#plan
    const now = clock.now()
    const asked = now + (outcome.retryAfterMs ?? 0)
    if (outcome.backPressure) course.window = Math.max(1, Math.floor(course.window / 2))
    if (course.succeeded) {
      this.#putBack(course, record, { ambiguous: outcome.exchange === 'ambiguous', held: true })
      const notBefore = Math.max(asked, now + fullJitter(record.attempts - 1, retry, random))
      course.waiting = [...course.waiting, { record, notBefore }]
      return
    }
    this.#putBack(course, record, { ambiguous: outcome.exchange === 'ambiguous' })
    course.window = 1
    if (course.lane.hold?.kind === 'paused') course.over = true
    if (course.inFlight > 0) return
    const backoff = fullJitter(Math.min(course.failures++, maxFailures), retry, random)
    course.notBefore = Math.max(asked, now + backoff)
  }

  #putBack({ lane }: Course, record: Pending, { ambiguous, held = false }: { ambiguous: boolean; held?: boolean }) {
    this.#plan.book.putBack(lane.index, { ambiguous })
    if (!held) lane.ready.putBack(record)
  }
}

/** When the lane has something to send next; never, when it waits for answers or has nothing. */
function nextMoment({ lane, waiting, over, inFlight, window, notBefore }: Course, now: number): number {
  if (over || inFlight >= window) return Number.POSITIVE_INFINITY
  const records = lane.ready.length > 0 ? now : firstOf(waiting)
  return Math.max(notBefore, records)
}

function firstOf(waiting: readonly Waiting[]): number {
  return waiting.reduce((first, { notBefore }) => Math.min(first, notBefore), Number.POSITIVE_INFINITY)
}
