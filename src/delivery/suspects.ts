import type { Clock, Timer } from '../runtime/clock.js'
import { type BackoffBounds, fullJitter } from './backoff.js'
import { DelayedRecords } from './delayed-records.js'
import type { Drain } from './drain.js'
import { type Pending, RecordQueue } from './record-queue.js'
import { type Failure, noWait, type Rejection, type Wait } from './rules.js'
import { type LaneProgress, Suspicion } from './suspicion.js'

export interface SuspectsPlan {
  readonly lane: LaneProgress
  readonly clock: Clock
  readonly retry: BackoffBounds
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** The drains under way: they hurry retries. */
  readonly drains: ReadonlySet<Drain>
  /** Some may go out now. */
  readonly due: () => void
}

/** So many failures of suspects in a row, without a success of the lane, are no reason yet to slow them all down. */
const freeFailures = 4
/** While a drain waits, backoffs grow no further than this: the deadline is seconds away. */
export const maxDrainAttempt = 2

/**
 * The suspects of a lane. Each waits for its own retry, then goes out alone: never in a batch, where it would take its neighbours with
 * it. While the lane has no success they go out one after the other, further and further apart, so that many of them make no storm.
 */
export class Suspects {
  readonly waiting: DelayedRecords
  /** Due for the first time. They go first, so that innocent ones do not wait behind those that failed often. */
  readonly fresh = new RecordQueue()
  /** Due again. */
  readonly known = new RecordQueue()
  readonly #plan: SuspectsPlan
  #settled = 0
  #inVain = 0
  /** Share of those asked for less that failed at their first retry, as a moving mean. */
  #ownShare = 0
  #gateOpensAt = Number.NEGATIVE_INFINITY
  #gate: Timer | undefined

  constructor(plan: SuspectsPlan) {
    this.#plan = plan
    this.waiting = new DelayedRecords(plan.clock, (records) => {
      for (const record of records) this.#queueOf(record).putBack(record)
      plan.due()
    })
  }

  /** In memory, and not in flight. */
  get length(): number {
    return this.waiting.queue.length + this.fresh.length + this.known.length
  }

  /** The record failed where others succeeded. */
  add(record: Pending, { wait = noWait, askedForLess = false } = {}): void {
    record.suspicion = new Suspicion({ askedForLess })
    this.wait(record, wait)
  }

  /** The record failed before others succeeded: in a drain it has its next attempt at once. */
  addLate(record: Pending): void {
    record.suspicion = new Suspicion()
    if (this.#plan.drains.size === 0) this.wait(record)
    else this.waiting.add(record, { ...noWait, waitMs: 0 })
  }

  /** A suspect is settled. */
  acquitted({ suspicion }: Pending): void {
    if (suspicion?.attempts === 0) this.#learn(suspicion, 0)
  }

  /**
   * True where a service that asks for less, while it takes other records, means the record and not the rate: most suspects that were
   * asked for less failed at their first retry, too.
   */
  get pressureIsTheirOwn(): boolean {
    return this.#ownShare > 1 / 2
  }

  /** A suspect, in no queue now, failed again, perhaps by its own fault. Returns its rejection, when that was one failure too many. */
  failed(record: Pending, outcome: Failure): Rejection | undefined {
    const { lane, clock, retry, random } = this.#plan
    const now = clock.now()
    if (record.suspicion!.attempts === 0) this.#learn(record.suspicion!, 1)
    this.#inVain = lane.settled > this.#settled ? 1 : this.#inVain + 1
    this.#settled = lane.settled
    const excess = this.#inVain - freeFailures
    this.#gateOpensAt = excess > 0 ? now + fullJitter(excess, retry, random) : Number.NEGATIVE_INFINITY
    return record.suspicion!.failed(outcome, { lane, now })
  }

  /** It waits for its next retry. */
  wait(record: Pending, { notBefore, excessive }: Wait = noWait): void {
    const { clock, retry, random, drains } = this.#plan
    const suspicion = record.suspicion!
    suspicion.notBefore = notBefore
    const attempt = drains.size > 0 ? Math.min(suspicion.attempts, maxDrainAttempt) : suspicion.attempts
    const waitMs = Math.max(notBefore - clock.now(), fullJitter(attempt, retry, random))
    this.waiting.add(record, { waitMs, notBefore, excessive })
  }

  /** Take one that may go out now. One that every drain under way has given up waits on: else many of them would keep a drain busy. */
  take(): Pending | undefined {
    while (this.fresh.length + this.known.length > 0 && !this.#gated()) {
      const record = this.fresh.takeOldest() ?? this.known.takeOldest()!
      if (!this.#isGivenUp(record)) return record
      this.wait(record)
    }
    return undefined
  }

  /** Take one to test the service with, in a lane that has nothing else. */
  takeAny(): Pending | undefined {
    const record = this.fresh.takeOldest() ?? this.known.takeOldest()
    return record ?? this.waiting.takeEarliest()
  }

  /** All that no Retry-After holds back may go out at once; see {@link DelayedRecords.releaseNow}. */
  releaseNow(how: { readonly last: boolean }): void {
    this.waiting.releaseNow(how)
    this.#plan.due()
  }

  /** Take out all, with the wait of each, and stop every timer. */
  clear(): { readonly record: Pending; readonly notBefore: number; readonly excessive: boolean }[] {
    this.stop()
    const due = [...this.fresh.takeAll(), ...this.known.takeAll()]
    return [...this.waiting.clear(), ...due.map((record) => ({ record, ...noWait }))]
  }

  /** Suspects of the generations up to `number` that the drain gives up: it cannot wait for them, or they failed within it. */
  givenUp(number: number, { startedAt, deadline }: { readonly startedAt: number; readonly deadline: number }): number {
    const { lane } = this.#plan
    const counts = (queue: RecordQueue, isGivenUp: (suspicion: Suspicion) => boolean) =>
      queue
        .leastSevere(queue.length)
        .filter(({ generation, suspicion }) => generation.number <= number && isGivenUp(suspicion!)).length
    const isHopeless = (suspicion: Suspicion) => suspicion.isHopeless(lane, startedAt)
    const known = counts(this.known, isHopeless)
    return known + counts(this.waiting.queue, (each) => each.notBefore > deadline || isHopeless(each))
  }

  stop(): void {
    this.#gate?.cancel()
    this.#gate = undefined
  }

  #learn({ askedForLess }: Suspicion, own: 0 | 1): void {
    if (askedForLess) this.#ownShare += (own - this.#ownShare) / 4
  }

  #isGivenUp({ suspicion }: Pending): boolean {
    const { lane, drains } = this.#plan
    if (drains.size === 0) return false
    return suspicion!.isHopeless(lane, Math.max(...[...drains].map(({ startedAt }) => startedAt)))
  }

  #queueOf(record: Pending): RecordQueue {
    return record.suspicion!.attempts === 0 ? this.fresh : this.known
  }

  #gated(): boolean {
    const { lane, clock, drains, due } = this.#plan
    const now = clock.now()
    if (this.#gateOpensAt <= now || lane.settled > this.#settled || drains.size > 0) return false
    this.#gate ??= clock.schedule(() => {
      this.#gate = undefined
      due()
    }, this.#gateOpensAt - now)
    return true
  }
}
