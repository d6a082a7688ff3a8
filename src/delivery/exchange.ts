import { textOf } from '../errors/text-of.js'
import type { Clock } from './clock.js'
import type { Lane } from './lane.js'
import type { Pending } from './record-queue.js'
import type { Outcome, Sender } from './sender.js'

type Retry = Outcome & { type: 'retry' }
type Pause = Outcome & { type: 'pause' }
type Settled = Outcome & { type: 'delivered' | 'rejected' }

/** A record that has to be sent again, and why. */
export interface Returned {
  readonly record: Pending
  readonly outcome: Retry | Pause
  /** Not to be sent before this moment (on the clock): the service asked for it. */
  readonly notBefore: number
}

/** What one batch on one connection came to. */
export interface ExchangeResult {
  readonly startedAt: number
  /** Records that got an answer about themselves: delivered or rejected. */
  readonly successes: number
  readonly firstAnswerMs: number | undefined
  readonly betweenAnswersMs: number | undefined
  readonly returned: readonly Returned[]
}

/** One batch under way. It settles each of its records exactly once, whatever the sender does. */
export class Exchange {
  readonly lane: Lane
  readonly #records: readonly Pending[]
  readonly #probe: boolean
  readonly #open: boolean[]
  readonly #returned: Returned[] = []
  readonly #settled: (record: Pending, outcome: Settled) => void
  readonly #clock: Clock
  #unsettled: number
  #successes = 0
  #firstAt: number | undefined
  #lastAt = 0
  #abandoned = false

  constructor(plan: {
    readonly lane: Lane
    readonly records: readonly Pending[]
    readonly probe: boolean
    readonly clock: Clock
    /** Called for each record that needs no further attempt, at the moment of its answer. */
    readonly settled: (record: Pending, outcome: Settled) => void
  }) {
    this.lane = plan.lane
    this.#records = plan.records
    this.#probe = plan.probe
    this.#open = new Array(plan.records.length).fill(true)
    this.#unsettled = plan.records.length
    this.#settled = plan.settled
    this.#clock = plan.clock
  }

  async run(sender: Sender): Promise<ExchangeResult> {
    const startedAt = this.#clock.now()
    let failure = 'the sender gave no outcome'
    try {
      await sender.send({
        ...this.lane.name,
        records: this.#records,
        probe: this.#probe,
        settle: (index, outcome) => this.#settle(index, outcome),
      })
    } catch (error) {
      failure = textOf(error)
    }
    for (let index = 0; this.#unsettled > 0 && index < this.#records.length; index++) {
      this.#settle(index, { type: 'retry', exchange: 'ambiguous', reason: failure, backPressure: false })
    }
    const between = this.#successes < 2 ? undefined : (this.#lastAt - this.#firstAt!) / (this.#successes - 1)
    return {
      startedAt,
      successes: this.#successes,
      firstAnswerMs: this.#firstAt === undefined ? undefined : this.#firstAt - startedAt,
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
      const wait = outcome.type === 'retry' ? outcome.retryAfterMs : undefined
      const notBefore = wait === undefined ? Number.NEGATIVE_INFINITY : this.#clock.now() + wait
      this.#returned.push({ record, outcome, notBefore })
      return
    }
    this.#successes++
    this.#lastAt = this.#clock.now()
    this.#firstAt ??= this.#lastAt
    this.#settled(record, outcome)
  }
}
