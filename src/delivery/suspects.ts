import type { Timer } from '../runtime/clock.js'
import { fullJitter } from './backoff.js'
import { DelayedRecords } from './delayed-records.js'
import type { DeliveryPlan } from './plan.js'
import { type Pending, RecordQueue } from './record-queue.js'
import { backoffMs, type Failure, noWait, type Rejection, type Wait } from './rules.js'
import { type LaneProgress, Suspicion } from './suspicion.js'

/** The time of a drain, on the clock. */
export interface DrainTime {
  readonly startedAt: number
  readonly deadline: number
  /** Nothing comes after it. */
  readonly last: boolean
}

interface SuspectsPlan extends Pick<DeliveryPlan, 'clock' | 'random' | 'retry'> {
  readonly lane: LaneProgress
  /** The drains under way. Retries come sooner during a drain. */
  readonly drains: ReadonlySet<DrainTime>
  /** Called when some may go out. */
  readonly due: () => void
}

/** Suspects slow down after more failures in a row than this, without a success of their lane in between. */
const freeFailures = 4

/**
 * The suspects of a lane. Each waits for its own retry, then goes out alone: in a batch its neighbours could fail with it. While the lane
 * has no success, suspects go out one after the other with growing gaps, so that many of them make no storm.
 */
export class Suspects {
  readonly waiting: DelayedRecords
  /** Due for the first time. They go first: innocent records do not wait behind those that failed often. */
  readonly fresh = new RecordQueue()
  /** Due again. */
  readonly known = new RecordQueue()
  /** The records of `known` in the order in which they came due: whoever fails often comes after the others. */
  readonly #turns = new Set<Pending>()
  readonly #plan: SuspectsPlan
  /** Count of settled records of the lane at the last failure. */
  #settled = 0
  /** Failures in a row since the last success of the lane. */
  #inVain = 0
  /** Moving mean: the share of suspects with back-pressure that failed at their first retry, too. */
  #ownShare = 0
  /** On the clock: no suspect goes out before. */
  #gateOpensAt = Number.NEGATIVE_INFINITY
  #gate: Timer | undefined

  constructor(plan: SuspectsPlan) {
    this.#plan = plan
    this.waiting = new DelayedRecords(plan.clock, (records) => {
      for (const record of records) this.#isDue(record)
      plan.due()
    })
  }

  /** Suspects in memory that are not in flight. */
  get length(): number {
    return this.waiting.queue.length + this.fresh.length + this.known.length
  }

  /** The record failed where others succeeded. */
  add(record: Pending, { wait = noWait, askedForLess = false } = {}): void {
    record.suspicion = new Suspicion({ askedForLess })
    this.wait(record, wait)
  }

  /**
   * The record failed before others succeeded. During a drain it has its next attempt at once, except inside a Retry-After. The last drain
   * honours none that is too long.
   */
  addLate(record: Pending, asked: Wait): void {
    const { clock, drains } = this.#plan
    record.suspicion = new Suspicion()
    if (drains.size === 0) {
      this.wait(record, asked)
      return
    }
    const wait = asked.excessive && [...drains].some(({ last }) => last) ? noWait : asked
    record.suspicion.notBefore = wait.notBefore
    this.waiting.add(record, { ...wait, waitMs: Math.max(0, wait.notBefore - clock.now()) })
  }

  /** A record is settled: if it was a suspect that never failed again, it was none. */
  acquitted({ suspicion }: Pending): void {
    if (suspicion?.attempts === 0) this.#learn(suspicion, 0)
  }

  /**
   * True while back-pressure that comes among successes is meant for single records and not for the rate: most suspects with
   * back-pressure fail again when they go alone.
   */
  get pressureIsTheirOwn(): boolean {
    return this.#ownShare > 1 / 2
  }

  /** A suspect that is in no queue failed again, perhaps by its own fault. Returns its rejection after one failure too many. */
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

  /** The suspect waits for its next retry. */
  wait(record: Pending, { notBefore, excessive }: Wait = noWait): void {
    const { clock, retry, random, drains } = this.#plan
    const suspicion = record.suspicion!
    suspicion.notBefore = notBefore
    const backoff = backoffMs(suspicion.attempts, { retry, random, draining: drains.size > 0 })
    this.waiting.add(record, { waitMs: Math.max(notBefore - clock.now(), backoff), notBefore, excessive })
  }

  /** Take one that may go out now. One that every drain has given up goes on waiting: many of them would keep a drain busy. */
  take(): Pending | undefined {
    while (this.fresh.length + this.known.length > 0 && !this.#gated()) {
      const record = this.fresh.takeOldest() ?? this.#takeKnown()!
      if (!this.#isGivenUp(record)) return record
      this.wait(record)
    }
    return undefined
  }

  /** Take one to test the service with, in a lane that has no other records. */
  takeAny(): Pending | undefined {
    const record = this.fresh.takeOldest() ?? this.#takeKnown()
    return record ?? this.waiting.takeEarliest()
  }

  /** Take a known one out, for instance to shed it. */
  removeKnown(record: Pending): void {
    this.#turns.delete(record)
    this.known.remove(record)
  }

  /** Make due all that no Retry-After holds back; see {@link DelayedRecords.releaseNow}. */
  releaseNow(how: { readonly last: boolean }): void {
    this.waiting.releaseNow(how)
    this.#plan.due()
  }

  /** Take out all, with their waits, and stop every timer. */
  clear(): { readonly record: Pending; readonly notBefore: number; readonly excessive: boolean }[] {
    this.stop()
    this.#turns.clear()
    const due = [...this.fresh.takeAll(), ...this.known.takeAll()]
    return [...this.waiting.clear(), ...due.map((record) => ({ record, ...noWait }))]
  }

  /** Suspects of the generations up to `number` that a drain gives up: it cannot wait for them, or they failed within it. */
  givenUp(number: number, { startedAt, deadline }: DrainTime): number {
    const { lane } = this.#plan
    const count = (queue: RecordQueue, isGivenUp: (suspicion: Suspicion) => boolean) =>
      queue
        .leastSevere(queue.length)
        .filter(({ generation, suspicion }) => generation <= number && isGivenUp(suspicion!)).length
    const isHopeless = (suspicion: Suspicion) => suspicion.isHopeless(lane, startedAt)
    const known = count(this.known, isHopeless)
    return known + count(this.waiting.queue, (each) => each.notBefore > deadline || isHopeless(each))
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

  #isDue(record: Pending): void {
    if (record.suspicion!.attempts === 0) this.fresh.putBack(record)
    else {
      this.known.putBack(record)
      this.#turns.add(record)
    }
  }

  #takeKnown(): Pending | undefined {
    const [record] = this.#turns
    if (record !== undefined) this.removeKnown(record)
    return record
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
