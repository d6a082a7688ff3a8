import { textOf } from '../errors/text-of.js'
import type { Clock } from '../runtime/clock.js'
import { type BackoffBounds, fullJitter } from './backoff.js'
import type { Holds } from './breakers.js'
import type { Lane } from './lane.js'
import type { LedgerBook } from './ledger-book.js'
import type { Observer } from './observer.js'
import type { Pending } from './record-queue.js'
import {
  asksForLess,
  blamedOf,
  type Failure,
  isDenial,
  mayBeItsOwn,
  noWait,
  type Refusal,
  reasonOf,
  type Wait,
  waitOf,
} from './rules.js'
import type { Outcome, Sender } from './sender.js'

export type Settled = Outcome & { type: 'delivered' | 'rejected' }

/** A record that has to be sent again, and why. */
export interface Returned {
  readonly record: Pending
  readonly outcome: Failure
  /** Its place in the batch. */
  readonly index: number
  /** The service asked for it. */
  readonly wait: Wait
}

/**
 * How records go out. `batch`: as they come. `probe`: one record that tests the service, by the surest way.
 * `alone`: a suspect.
 */
export type Way = 'batch' | 'probe' | 'alone'

/** What one batch on one connection came to. */
export interface ExchangeResult {
  readonly startedAt: number
  /** Count of the lane when it began: if the lane has settled more since, others succeed. */
  readonly settledBefore: number
  /** Records that got an answer about themselves: delivered or rejected. */
  readonly successes: number
  readonly firstAnswerMs: number | undefined
  readonly betweenAnswersMs: number | undefined
  readonly returned: readonly Returned[]
}

/** One batch under way. It settles each of its records exactly once, whatever the sender does. */
export class Exchange {
  readonly lane: Lane
  readonly way: Way
  /** Count of the lane when it began. */
  readonly settledBefore: number
  readonly #records: readonly Pending[]
  readonly #open: boolean[]
  readonly #returned: Returned[] = []
  readonly #settled: (record: Pending, outcome: Settled) => void
  readonly #clock: Clock
  readonly #startedAt: number
  #unsettled: number
  #parted = false
  #successes = 0
  #firstAt: number | undefined
  #lastAt = 0
  #abandoned = false

  constructor(plan: {
    readonly lane: Lane
    readonly records: readonly Pending[]
    readonly way: Way
    readonly clock: Clock
    /** Called for each record that needs no further attempt, at the moment of its answer. */
    readonly settled: (record: Pending, outcome: Settled) => void
  }) {
    this.lane = plan.lane
    this.#records = plan.records
    this.way = plan.way
    this.settledBefore = plan.lane.settled
    this.#open = new Array(plan.records.length).fill(true)
    this.#unsettled = plan.records.length
    this.#settled = plan.settled
    this.#clock = plan.clock
    this.#startedAt = plan.clock.now()
  }

  /** On the clock: since when it has waited for its first answer, or for one after another. */
  get waitsSince(): number {
    return this.#firstAt === undefined ? this.#startedAt : this.#lastAt
  }

  async run(sender: Sender): Promise<ExchangeResult> {
    let failure = 'the sender gave no outcome'
    try {
      await sender.send({
        ...this.lane.name,
        records: this.#records,
        probe: this.way === 'probe',
        parted: () => {
          this.#parted = true
        },
        settle: (index, outcome) => this.#settle(index, outcome),
      })
    } catch (error) {
      failure = textOf(error)
    }
    for (let index = 0; this.#unsettled > 0 && index < this.#records.length; index++) {
      this.#settle(index, { type: 'retry', exchange: 'ambiguous', reason: failure, backPressure: false })
    }
    const between =
      this.#parted || this.#successes < 2 ? undefined : (this.#lastAt - this.#firstAt!) / (this.#successes - 1)
    return {
      startedAt: this.#startedAt,
      settledBefore: this.settledBefore,
      successes: this.#successes,
      firstAnswerMs: this.#firstAt === undefined ? undefined : this.#firstAt - this.#startedAt,
      betweenAnswersMs: between,
      returned: this.#returned,
    }
  }

  /** Give up: the records without an answer, for the ledger. Later answers change nothing. */
  abandon(): readonly Pending[] {
    this.#abandoned = true
    return [...this.#records.filter((_, index) => this.#open[index]), ...this.#returned.map(({ record }) => record)]
  }

  #settle(index: number, outcome: Outcome): void {
    const record = this.#records[index]
    if (record === undefined || !this.#open[index] || this.#abandoned) return
    this.#open[index] = false
    this.#unsettled--
    if (outcome.type === 'retry' || outcome.type === 'pause') {
      this.#returned.push({ record, outcome, index, wait: waitOf(outcome, this.#clock.now()) })
      return
    }
    this.#successes++
    this.#lastAt = this.#clock.now()
    this.#firstAt ??= this.#lastAt
    this.#settled(record, outcome)
  }
}

export interface AftermathPlan {
  readonly book: LedgerBook
  readonly holds: Holds
  readonly clock: Clock
  readonly retry: BackoffBounds
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly tell: (message: (observer: Observer) => void) => void
  /** A lane may send again. */
  readonly wake: (lane: Lane) => void
  /** The record is in flight, and is given up. */
  readonly reject: (lane: Lane, record: Pending, rejection: Settled & { type: 'rejected' }) => void
}

interface Question {
  /** The lane was held, and this was its probe. */
  readonly asked: boolean
  readonly blamed: readonly Returned[]
}

/** The consequences of a batch: for the lane's concurrency, for its hold, and for the records that came back. */
export class Aftermath {
  readonly #plan: AftermathPlan

  constructor(plan: AftermathPlan) {
    this.#plan = plan
  }

  of(lane: Lane, result: ExchangeResult, way: Way): void {
    const { startedAt, settledBefore, successes, firstAnswerMs, betweenAnswersMs, returned } = result
    const others = lane.settled > settledBefore
    if (way !== 'alone') {
      const limited = lane.ready.length > 0
      const endedAt = this.#plan.clock.now()
      const backPressure = returned.some(({ outcome }) =>
        asksForLess(outcome, { others, own: lane.suspects.pressureIsTheirOwn }),
      )
      lane.concurrency.add({ startedAt, endedAt, successes, firstAnswerMs, betweenAnswersMs, backPressure, limited })
    }
    if (returned.length === 0) this.#recover(lane)
    else if (returned[0]!.record.suspicion === undefined) this.#takeBack(lane, result, { way, others })
    else this.#suspectFailed(lane, returned[0]!, { way, others })
  }

  /** Records that were not settled go back: as suspects when they failed among successes. Else the lane is held. */
  #takeBack(lane: Lane, { successes, returned }: ExchangeResult, { way, others }: { way: Way; others: boolean }): void {
    const denial = returned.map(({ outcome }) => outcome).find(isDenial)
    const asked = way === 'probe' && lane.hold !== undefined
    const alone = denial === undefined && !asked && others
    const blamed = blamedOf(returned)
    for (const each of returned) this.#putBack(lane, each)
    for (const each of returned) {
      const { record, outcome, wait } = each
      if (blamed.includes(each)) {
        if (alone) lane.suspects.add(record, { wait, askedForLess: outcome.type === 'retry' && outcome.backPressure })
      } else if (alone && successes === 0 && outcome.type === 'retry' && outcome.exchange === 'unsent') {
        lane.delayed.add(record, { ...noWait, waitMs: this.#jitter(record.attempts - 1) })
      } else if (!asked) lane.ready.putBack(record)
    }
    const cause = alone ? undefined : this.#question(lane, returned, { asked, blamed })
    if (denial !== undefined) {
      lane.probes.confirming = false
      this.#pause(lane, denial)
    } else if (successes > 0) this.#recover(lane)
    else if (cause !== undefined) this.#pause(lane, cause)
    else if (!alone) this.#plan.holds.keepOut(lane, returned)
  }

  /** Nothing succeeded beside these records: one of them is at fault, or the service is. Returns the refusal that this confirms. */
  #question(lane: Lane, returned: readonly Returned[], { asked, blamed }: Question): Refusal | undefined {
    const { hold, probes } = lane
    const now = this.#plan.clock.now()
    const [first] = asked || hold === undefined ? blamed : []
    const records = blamed.map(({ record }) => record)
    if (asked)
      probes.failed(returned[0]!.record, {
        own: first !== undefined,
        again: hold?.kind === 'paused',
        now,
      })
    else if (hold === undefined) probes.open(records, now)
    else for (const record of records) probes.join(record)
    // Of a batch one counts: records that stood together confirm nothing of each other.
    const refusal = first?.outcome.type === 'pause' ? first.outcome : undefined
    return refusal && this.#plan.holds.refused(lane, first!.record, refusal)
  }

  /** A suspect's failure says nothing about the lane, unless the service is out of reach or the key wrong. */
  #suspectFailed(lane: Lane, each: Returned, { way, others }: { way: Way; others: boolean }): void {
    const { record, outcome, wait } = each
    const { suspects, probes } = lane
    const own = mayBeItsOwn(outcome)
    const rejection = own ? suspects.failed(record, outcome) : undefined
    if (rejection === undefined) {
      this.#putBack(lane, each)
      suspects.wait(record, wait)
    } else this.#plan.reject(lane, record, rejection)
    if (way === 'probe') probes.confirming = own
    if (isDenial(outcome)) this.#pause(lane, outcome)
    else if (way === 'probe' || (!own && !others)) this.#plan.holds.keepOut(lane, [each])
  }

  #putBack(lane: Lane, { outcome }: Returned): void {
    const { book } = this.#plan
    book.putBack(lane.index, { ambiguous: outcome.type === 'retry' && outcome.exchange === 'ambiguous' })
    book.lastError(lane.index, reasonOf(outcome))
  }

  #pause(lane: Lane, cause: Refusal): void {
    const { holds, tell } = this.#plan
    if (holds.pause(lane, cause)) tell((observer) => observer.paused(lane.name, cause))
  }

  #recover(lane: Lane): void {
    const { holds, tell, wake } = this.#plan
    const { released, news } = holds.recover(lane)
    for (const each of released) wake(each)
    if (news) tell((observer) => observer.resumed(lane.name))
  }

  #jitter(attempt: number): number {
    return fullJitter(attempt, this.#plan.retry, this.#plan.random)
  }
}
