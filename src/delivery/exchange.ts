import { textOf } from '../errors/text-of.js'
import type { Clock } from '../runtime/clock.js'
import type { Failure } from './failure.js'
import type { Lane } from './lane.js'
import type { Pending } from './record-queue.js'
import { type Wait, waitOf } from './retry-after.js'
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
