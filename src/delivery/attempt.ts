import { textOf } from '../errors/text-of.js'
import type { Clock } from '../runtime/clock.js'
import { fullJitter } from './backoff.js'
import type { Breakers } from './breakers.js'
import type { Lane } from './lane.js'
import type { DeliveryPlan } from './plan.js'
import { batchRecords } from './record-batch.js'
import type { RecordBuffer } from './record-buffer.js'
import type { Pending } from './record-queue.js'
import {
  asksForLess,
  blamedOf,
  type Failure,
  isDenial,
  isFailure,
  longestWait,
  mayBeItsOwn,
  noWait,
  type Refusal,
  reasonOf,
  type Unanswered,
  type Wait,
  waitOf,
} from './rules.js'
import type { Outcome, Sender } from './sender.js'

/** A record that has to be sent again, and why. */
interface Returned {
  readonly record: Pending
  readonly outcome: Failure
  /** Its place in the batch. */
  readonly index: number
  /** The wait that the service asked for. */
  readonly wait: Wait
}

/**
 * How records go out. `batch`: as they come. `probe`: one record that tests the service, by the surest way.
 * `alone`: a suspect.
 */
export type Way = 'batch' | 'probe' | 'alone'

/** The outcome of one batch on one connection. */
interface AttemptResult {
  readonly startedAt: number
  /** Count of settled records of the lane when the batch left. */
  readonly settledBefore: number
  /** Records that got an answer about themselves: delivered or rejected. */
  readonly successes: number
  readonly firstAnswerMs: number | undefined
  readonly betweenAnswersMs: number | undefined
  readonly returned: readonly Returned[]
}

/** One batch in flight. It settles each of its records exactly once, whatever the sender does. */
export class Attempt implements Unanswered {
  readonly way: Way
  readonly settledBefore: number
  readonly #lane: Lane
  readonly #records: readonly Pending[]
  readonly #open: boolean[]
  readonly #returned: Returned[] = []
  readonly #buffer: RecordBuffer
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
    readonly buffer: RecordBuffer
  }) {
    this.#lane = plan.lane
    this.#records = plan.records
    this.way = plan.way
    this.settledBefore = plan.lane.settled
    this.#open = new Array(plan.records.length).fill(true)
    this.#unsettled = plan.records.length
    this.#buffer = plan.buffer
    this.#clock = plan.clock
    this.#startedAt = plan.clock.now()
  }

  /** On the clock: since when it has waited for its first answer, or for the next one. */
  get waitsSince(): number {
    return this.#firstAt === undefined ? this.#startedAt : this.#lastAt
  }

  async run(sender: Sender): Promise<AttemptResult> {
    let failure = 'the sender gave no outcome'
    try {
      await sender.send({
        ...this.#lane.name,
        ...batchRecords(this.#records),
        probe: this.way === 'probe',
        parted: () => {
          this.#parted = true
        },
        settle: (from, outcome, count = 1) => {
          for (let index = from; index < from + count; index++) this.#settle(index, outcome)
        },
      })
    } catch (error) {
      failure = textOf(error)
    }
    for (let index = 0; this.#unsettled > 0 && index < this.#records.length; index++) {
      this.#settle(index, { type: 'retry', exchange: 'ambiguous', reason: failure, backPressure: false })
    }
    return {
      startedAt: this.#startedAt,
      settledBefore: this.settledBefore,
      successes: this.#successes,
      firstAnswerMs: this.#firstAt === undefined ? undefined : this.#firstAt - this.#startedAt,
      betweenAnswersMs:
        this.#parted || this.#successes < 2 ? undefined : (this.#lastAt - this.#firstAt!) / (this.#successes - 1),
      returned: this.#returned,
    }
  }

  /** Give up. Returns the records that the ledger counts as in flight. Later answers change nothing. */
  abandon(): readonly Pending[] {
    this.#abandoned = true
    return [...this.#records.filter((_, index) => this.#open[index]), ...this.#returned.map(({ record }) => record)]
  }

  #settle(index: number, outcome: Outcome): void {
    const record = this.#records[index]
    if (record === undefined || !this.#open[index] || this.#abandoned) return
    this.#open[index] = false
    this.#unsettled--
    if (isFailure(outcome)) {
      this.#returned.push({ record, outcome, index, wait: waitOf(outcome, this.#clock.now()) })
      return
    }
    this.#successes++
    this.#lastAt = this.#clock.now()
    this.#firstAt ??= this.#lastAt
    this.#buffer.settle(this.#lane, record, outcome)
  }
}

interface ConsequencesPlan extends Pick<DeliveryPlan, 'clock' | 'random' | 'retry'> {
  readonly buffer: RecordBuffer
  readonly breakers: Breakers
}

/** How records went out, and whether others succeeded meanwhile. */
interface Beside {
  readonly way: Way
  readonly others: boolean
}

/** Applies the result of an attempt to the concurrency of its lane, to its breaker and to the records that came back. */
export class Consequences {
  readonly #plan: ConsequencesPlan

  constructor(plan: ConsequencesPlan) {
    this.#plan = plan
  }

  apply(lane: Lane, result: AttemptResult, way: Way): void {
    const others = lane.settled > result.settledBefore
    if (way !== 'alone') this.#adapt(lane, result, { others })
    const [first] = result.returned
    if (first === undefined) this.#plan.breakers.recover(lane)
    else if (first.record.suspicion === undefined) this.#takeBack(lane, result, { way, others })
    else this.#suspectFailed(lane, first, { way, others })
  }

  #adapt(lane: Lane, result: AttemptResult, { others }: { readonly others: boolean }): void {
    const { startedAt, successes, firstAnswerMs, betweenAnswersMs, returned } = result
    const endedAt = this.#plan.clock.now()
    const limited = lane.ready.length > 0
    const own = lane.suspects.pressureIsTheirOwn
    const backPressure = returned.some(({ outcome }) => asksForLess(outcome, { others, own }))
    lane.concurrency.add({ startedAt, endedAt, successes, firstAnswerMs, betweenAnswersMs, backPressure, limited })
  }

  /** Records come back. Those that failed among successes are suspects. When nothing succeeded the breaker opens. */
  #takeBack(lane: Lane, { successes, returned }: AttemptResult, { way, others }: Beside): void {
    const { breakers } = this.#plan
    const denial = returned.map(({ outcome }) => outcome).find(isDenial)
    const asked = way === 'probe' && lane.breaker !== undefined
    const alone = denial === undefined && !asked && others
    const blamed = blamedOf(returned)
    for (const { outcome } of returned) lane.cameBack(outcome)
    for (const each of returned) {
      const { record, outcome, wait } = each
      if (blamed.includes(each)) {
        if (alone) lane.suspects.add(record, { wait, askedForLess: outcome.type === 'retry' && outcome.backPressure })
      } else if (alone && successes === 0 && outcome.type === 'retry' && outcome.exchange === 'unsent') {
        const { retry, random } = this.#plan
        lane.delayed.add(record, { ...noWait, waitMs: fullJitter(record.attempts - 1, retry, random) })
      } else if (!asked) lane.ready.putBack(record)
    }
    const confirmed = alone ? undefined : this.#question(lane, returned, { asked, blamed })
    if (denial !== undefined) {
      lane.probes.denied()
      breakers.pause(lane, denial)
    } else if (successes > 0) breakers.recover(lane)
    else if (confirmed !== undefined) breakers.pause(lane, confirmed)
    else if (!alone) this.#openBreaker(lane, returned)
  }

  /** Nothing succeeded beside these records: one of them is at fault, or the service is. Returns the refusal that this confirms. */
  #question(
    lane: Lane,
    returned: readonly Returned[],
    { asked, blamed }: { readonly asked: boolean; readonly blamed: readonly Returned[] },
  ): Refusal | undefined {
    const { breaker, probes } = lane
    probes.failedAlone(returned[0]!, {
      blamed,
      asked,
      open: breaker !== undefined,
      paused: breaker?.cause === 'paused',
      now: this.#plan.clock.now(),
    })
    // Of a batch one record counts: records that stood together confirm nothing of each other.
    const [first] = asked || breaker === undefined ? blamed : []
    if (first?.outcome.type !== 'pause') return undefined
    return this.#plan.breakers.confirmed(lane, first.record, first.outcome)
  }

  /** The failure of a suspect says nothing about the lane, unless the service is out of reach or the key is wrong. */
  #suspectFailed(lane: Lane, failed: Returned, { way, others }: Beside): void {
    const { record, outcome, wait } = failed
    const { suspects, probes } = lane
    const own = mayBeItsOwn(outcome)
    const rejection = own ? suspects.failed(record, outcome) : undefined
    if (rejection === undefined) {
      lane.cameBack(outcome)
      suspects.wait(record, wait)
    } else this.#plan.buffer.giveUp(lane, record, rejection)
    if (way === 'probe') probes.suspectFailed({ own })
    if (isDenial(outcome)) this.#plan.breakers.pause(lane, outcome)
    else if (way === 'probe' || (!own && !others)) this.#openBreaker(lane, [failed])
  }

  #openBreaker(lane: Lane, returned: readonly Returned[]): void {
    const wait = longestWait(returned.map((each) => each.wait))
    this.#plan.breakers.open(lane, { wait, reason: reasonOf(returned[0]!.outcome) })
  }
}
