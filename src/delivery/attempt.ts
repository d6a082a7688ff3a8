import { textOf } from '../errors/text-of.js'
import type { Clock } from '../runtime/clock.js'
import type { Lane } from './lane.js'
import type { RecordBatch } from './record-batch.js'
import type { RecordBuffer } from './record-buffer.js'
import type { Pending } from './record-queue.js'
import { type Failure, isAmbiguous, isFailure, type Unanswered, type Wait, waitOf } from './rules.js'
import type { Outcome, Sender } from './sender.js'
import { SentRecords } from './sent-records.js'

/** A record that has to be sent again, and why. */
export interface Returned {
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
export interface AttemptResult {
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
  /** It left while a drain waited, on a connection that lived. */
  readonly fresh: boolean
  readonly settledBefore: number
  readonly #lane: Lane
  readonly #batch: RecordBatch
  /** 1 for each record without an outcome. */
  readonly #open: Uint8Array
  readonly #returned: Returned[] = []
  readonly #buffer: RecordBuffer
  readonly #clock: Clock
  readonly #startedAt: number
  /** It went out on a connection that had been idle. */
  #woken = false
  /** Sends of its records that have not ended: a second one may race the first. */
  #sends = 0
  #raced = false
  /** How the first of two sends broke. */
  #broke: Failure | undefined
  #ended = () => {}
  #unsettled: number
  #parted = false
  #successes = 0
  #firstAt: number | undefined
  #lastAt = 0
  #abandoned = false

  constructor(plan: {
    readonly lane: Lane
    readonly batch: RecordBatch
    readonly way: Way
    readonly clock: Clock
    readonly buffer: RecordBuffer
    readonly fresh: boolean
  }) {
    this.#lane = plan.lane
    this.#batch = plan.batch
    this.way = plan.way
    this.settledBefore = plan.lane.settled
    this.#open = new Uint8Array(plan.batch.length).fill(1)
    this.#unsettled = plan.batch.length
    this.#buffer = plan.buffer
    this.#clock = plan.clock
    this.#startedAt = plan.clock.now()
    this.fresh = plan.fresh
  }

  /** On the clock: since when it has waited for its first answer, or for the next one. */
  get waitsSince(): number {
    return this.#firstAt === undefined ? this.#startedAt : this.#lastAt
  }

  /** It went out on a connection that had been idle, and that has not answered since. */
  get woken(): boolean {
    return this.#woken && this.#firstAt === undefined
  }

  /** Its records were sent twice. The batch may still be in use when it has ended. */
  get raced(): boolean {
    return this.#raced
  }

  /** Its result comes at once after the last outcome: before the application goes on that has waited for a flush. */
  run(sender: Sender): Promise<AttemptResult> {
    return new Promise((resolve) => {
      this.#ended = () => resolve(this.#result())
      this.#send(sender, this.#outgoing(this.#batch, this.fresh))
    })
  }

  #result(): AttemptResult {
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

  /** Send the records without an answer once more, on a connection that lives. For each the first answer counts. */
  race(sender: Sender, copy: RecordBatch): void {
    this.#raced = true
    const places: number[] = []
    for (const [index, flag] of this.#open.entries()) {
      if (flag === 0) continue
      copy.add(this.#batch.take(index))
      places.push(index)
    }
    this.#lane.sendAgain(places.length)
    this.#send(sender, this.#outgoing(copy, true, places))
  }

  #send(sender: Sender, outgoing: SentRecords): void {
    this.#sends++
    try {
      sender.send(outgoing)
    } catch (error) {
      outgoing.end(textOf(error))
    }
  }

  /** One of its sends is over. Records of the last one that have no outcome may have arrived. */
  #over(reason: string): void {
    const outcome = this.#broke ?? { type: 'retry', exchange: 'ambiguous', reason, backPressure: false }
    if (this.#sends === 1 && this.#unsettled > 0) this.#settle(0, outcome, this.#batch.length)
    this.#sends--
    if (this.#unsettled === 0 || this.#abandoned) this.#ended()
  }

  /** Give up. Returns the records that the ledger counts as in flight. Later answers change nothing. */
  abandon(): readonly Pending[] {
    this.#abandoned = true
    const open: Pending[] = []
    for (const [index, flag] of this.#open.entries()) if (flag === 1) open.push(this.#batch.take(index))
    return [...open, ...this.#returned.map(({ record }) => record)]
  }

  /** The records as the sender sees them. `places`: their indexes in the batch, where they are not all of it. */
  #outgoing(records: RecordBatch, fresh: boolean, places?: readonly number[]): SentRecords {
    return new SentRecords(records, {
      ...this.#lane.name,
      probe: this.way === 'probe',
      fresh,
      woken: () => {
        this.#woken = true
      },
      parted: () => {
        this.#parted = true
      },
      settle: (from, outcome, count) => {
        if (places === undefined) this.#settle(from, outcome, count)
        else for (const index of places.slice(from, from + count)) this.#settle(index, outcome, 1)
      },
      over: (reason) => this.#over(reason),
    })
  }

  #settle(from: number, given: Outcome, count: number): void {
    if (this.#abandoned || from < 0) return
    const broken = given.type === 'retry' && given.exchange !== 'answered'
    if (broken && this.#sends > 1) {
      this.#broke = this.#mayHaveArrived(given)
      return
    }
    const outcome = broken ? this.#mayHaveArrived(given) : given
    const end = Math.min(from + count, this.#open.length)
    if (outcome.type === 'delivered') {
      for (let index = from; index < end; ) index = this.#deliver(index, end)
      return
    }
    for (let index = from; index < end; index++) {
      if (this.#open[index] === 0) continue
      this.#open[index] = 0
      this.#unsettled--
      const record = this.#batch.take(index)
      if (isFailure(outcome)) {
        this.#returned.push({ record, outcome, index, wait: waitOf(outcome, this.#clock.now()) })
      } else {
        this.#succeeded(1)
        this.#buffer.settle(this.#lane, record, outcome)
      }
    }
  }

  /** Of the breaks of two sends, one after which the record may have arrived counts. */
  #mayHaveArrived(broke: Failure): Failure {
    return isAmbiguous(broke) ? broke : (this.#broke ?? broke)
  }

  /** Settle the records before `end` that have no outcome yet, up to the first that has one. Returns the index behind that. */
  #deliver(from: number, end: number): number {
    let to = from
    while (to < end && this.#open[to] === 1) this.#open[to++] = 0
    const count = to - from
    if (count > 0) {
      this.#unsettled -= count
      this.#succeeded(count)
      this.#buffer.deliver(this.#lane, this.#batch, { from, count })
    }
    return to + 1
  }

  #succeeded(count: number): void {
    this.#successes += count
    this.#lastAt = this.#clock.now()
    this.#firstAt ??= this.#lastAt
  }
}
