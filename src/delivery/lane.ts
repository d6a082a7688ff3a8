import type { Breaker, BreakerLane } from './breaker.js'
import { Concurrency } from './concurrency.js'
import { DelayedRecords } from './delayed-records.js'
import type { LaneCondition, LaneName, LaneState } from './ledger.js'
import type { LedgerBook } from './ledger-book.js'
import { LossTally } from './observer.js'
import { OutstandingRecords } from './outstanding-records.js'
import type { DeliveryPlan } from './plan.js'
import { Probes } from './probes.js'
import { Reach } from './reach.js'
import { ReadyRecords } from './ready-records.js'
import type { RecordBatch } from './record-batch.js'
import type { Pending } from './record-queue.js'
import { type Failure, isAmbiguous, patienceMs, reasonOf, type Wait } from './rules.js'
import { type Shelf, shelvesOf } from './shelf.js'
import { type DrainTime, Suspects } from './suspects.js'

/** The port through which a lane calls its delivery. */
export interface LaneEvents {
  /** Records have come that may be sent. */
  due(lane: Lane): void
  /** It may send again. */
  wake(lane: Lane): void
  /** Send one record to test the service; false when there is none to send. */
  probe(lane: Lane): boolean
  /** A drain may have no more to wait for. */
  settled(lane: Lane): void
}

type Settings = 'sender' | 'clock' | 'random' | 'retry' | 'maxConnections' | 'maxBatch' | 'requestTimeoutMs'

interface LanePlan extends Pick<DeliveryPlan, Settings> {
  readonly name: LaneName
  readonly index: number
  readonly events: LaneEvents
  readonly book: LedgerBook
  readonly drains: ReadonlySet<DrainTime>
  readonly keyOf: (sequence: number) => string
  /** Lanes of one service share it. @default one of its own */
  readonly reach?: Reach
}

/** The pending records of one bucket and kind, and the state of their way to the service. */
export class Lane implements BreakerLane {
  readonly name: LaneName
  /** Row in the ledger. */
  readonly index: number
  /** Records that may go out now. */
  readonly ready: ReadyRecords
  /** Records that could not be sent while others could: each waits for its own retry. */
  readonly delayed: DelayedRecords
  /** Records that failed where others succeeded: each goes out alone. */
  readonly suspects: Suspects
  /** Records that test the service while the breaker is open. */
  readonly probes = new Probes()
  /** Records that are not settled: drains wait for them. */
  readonly outstanding: OutstandingRecords
  /** All places of its records, except those in flight. */
  readonly shelves: readonly Shelf[]
  readonly concurrency: Concurrency
  readonly losses = new LossTally()
  readonly reach: Reach
  readonly #plan: LanePlan
  #breaker: Breaker | undefined
  #closed = false
  #probing = false
  /** A suspect tests the service when all other records have failed, in turn with them. */
  #suspectIsNext = false
  #delivered = 0
  #settled = 0
  #lastSuccessAt = Number.NEGATIVE_INFINITY
  #severeFirst = false
  #hasLastChance = false
  /** Its condition in the ledger. */
  #reported: LaneCondition = { state: 'open', connections: 0, depth: 0, sender: 'undici' }

  constructor(plan: LanePlan) {
    this.#plan = plan
    const { name, index, events, clock, sender, maxConnections, maxBatch, requestTimeoutMs } = plan
    this.name = name
    this.reach = plan.reach ?? new Reach(plan)
    this.ready = new ReadyRecords(plan.keyOf)
    this.index = index
    this.concurrency = new Concurrency({
      maxConnections,
      maxDepth: () => Math.min(maxBatch, sender.carriage(name.kind).maxDepth),
      patienceMs: patienceMs(requestTimeoutMs, { draining: false }),
    })
    this.delayed = new DelayedRecords(clock, (records) => {
      for (const record of records) this.ready.putBack(record)
      events.due(this)
    })
    this.suspects = new Suspects({ ...plan, lane: this, due: () => events.due(this) })
    this.outstanding = new OutstandingRecords(() => events.settled(this))
    this.shelves = shelvesOf(this)
    this.report()
  }

  /** The breaker that keeps it from sending; undefined while it sends. */
  get breaker(): Breaker | undefined {
    return this.#breaker
  }

  get state(): LaneState {
    return this.#closed ? 'closed' : (this.#breaker?.cause ?? 'open')
  }

  get maySend(): boolean {
    return this.#breaker === undefined && !this.#closed
  }

  get closed(): boolean {
    return this.#closed
  }

  /** True while a record is in flight that tests the service. */
  get probing(): boolean {
    return this.#probing
  }

  /** Records that the service has taken. */
  get delivered(): number {
    return this.#delivered
  }

  /** Records that the service has taken or judged. */
  get settled(): number {
    return this.#settled
  }

  /** On the clock: when the service last took or judged a record. */
  get lastSuccessAt(): number {
    return this.#lastSuccessAt
  }

  /** True while it may send once though the service asks for a longer wait than is honoured: nothing comes after this drain. */
  get hasLastChance(): boolean {
    return this.#hasLastChance
  }

  /** Records have come that may be sent. */
  due(): void {
    this.#plan.events.due(this)
  }

  wake(): void {
    this.#plan.events.wake(this)
  }

  probe(): boolean {
    return this.#plan.events.probe(this)
  }

  breakerOpened(breaker: Breaker): void {
    this.#breaker = breaker
    this.report()
  }

  breakerClosed(): void {
    this.#breaker = undefined
  }

  probeLeft(): void {
    this.#probing = true
  }

  probeEnded(): void {
    this.#probing = false
  }

  /** A record leaves the queue for the service. */
  depart(record: Pending): void {
    this.#plan.book.move(this.index, 'queued', 'inFlight', 1, 0)
    if (record.attempts++ > 0) this.#plan.book.count(this.index, 'retries', 1)
  }

  /** The records of a batch leave the queue for the service. */
  departAll(batch: RecordBatch): void {
    let retries = 0
    for (let index = 0; !batch.isPlain && index < batch.length; index++) {
      const record = batch.objectAt(index)
      if (record !== undefined && record.attempts++ > 0) retries++
    }
    this.#plan.book.move(this.index, 'queued', 'inFlight', batch.length, 0)
    if (retries > 0) this.#plan.book.count(this.index, 'retries', retries)
  }

  /** Records in flight are sent once more, and may arrive twice. */
  sendAgain(count: number): void {
    this.#plan.book.move(this.index, 'inFlight', 'inFlight', count, 0)
    for (const name of ['retries', 'ambiguousRetries'] as const) this.#plan.book.count(this.index, name, count)
  }

  /** An attempt has failed: in the ledger its record is queued again. */
  cameBack(outcome: Failure): void {
    this.#putBack({ ambiguous: isAmbiguous(outcome) })
    this.failed(reasonOf(outcome))
    this.reach.failed(outcome)
  }

  /** A record in flight will get no answer any more: it is ready again. */
  takeBack(record: Pending): void {
    this.#putBack({ ambiguous: !this.reach.isNowhere })
    this.ready.putBack(record)
  }

  /** Remember why an attempt failed. */
  failed(reason: string): void {
    this.#plan.book.lastError(this.index, reason)
  }

  /** The service has taken records, or judged them. */
  succeeded({ taken, count }: { readonly taken: boolean; readonly count: number }): void {
    if (taken) this.#delivered += count
    this.#settled += count
    this.reach.succeeded()
    this.#lastSuccessAt = this.#plan.clock.now()
  }

  /** Send the most severe records first from here on: the process is about to end. */
  sendSevereFirst(): void {
    this.#severeFirst = true
  }

  grantLastChance(): void {
    this.#hasLastChance = true
  }

  /** The moment before which it sends nothing, as the service asks. Its last chance is spent on a wait that is too long to honour. */
  honour({ notBefore, excessive }: Wait): number {
    if (!excessive || !this.#hasLastChance) return notBefore
    this.#hasLastChance = false
    return Number.NEGATIVE_INFINITY
  }

  /** Make the one attempt of a drain: nothing waits for a retry, except inside a Retry-After. */
  attemptNow({ last }: { readonly last: boolean }): void {
    if (last) this.grantLastChance()
    this.delayed.releaseNow({ last })
    this.suspects.releaseNow({ last })
    this.wake()
    this.#breaker?.probeNow(this)
  }

  /** Send nothing any more. */
  close(): void {
    this.#closed = true
    this.report()
  }

  /** Write its condition into the ledger, if it has changed. */
  report(): void {
    const { connections, depth } = this.concurrency
    const { sender } = this.#plan.sender.carriage(this.name.kind)
    const { state } = this
    const was = this.#reported
    if (was.state === state && was.connections === connections && was.depth === depth && was.sender === sender) return
    this.#reported = { state, connections, depth, sender }
    this.#plan.book.describe(this.index, this.#reported)
  }

  /** Take the record that goes out next. */
  takeNext(): Pending | undefined {
    return this.#severeFirst ? this.ready.takeMostSevere() : this.ready.takeOldest()
  }

  /** Move the records that go out next into a batch, until it has `size` or is full. */
  cut(batch: RecordBatch, size: number): void {
    if (!this.#severeFirst) {
      this.ready.cut(batch, size)
      return
    }
    while (batch.length < size && batch.fits(0)) {
      const record = this.takeNext()
      if (record === undefined) return
      batch.add(record)
    }
  }

  /**
   * Take the record that tests the service next; `beside` others that are in flight. Where all others have failed since the breaker opened,
   * they and the suspects take turns: all of the others may be at fault.
   */
  takeProbe({ beside }: { readonly beside: boolean }): Pending | undefined {
    const suspect = this.ready.length === 0 && this.#suspectIsNext ? this.suspects.takeAny() : undefined
    this.#suspectIsNext = this.ready.length === 0 && !this.#suspectIsNext
    return suspect ?? this.probes.next(this, { beside }) ?? this.suspects.takeAny()
  }

  /** Make all of its records ready: nothing waits for a retry any more. */
  gather(): void {
    const waiting = [...this.delayed.clear(), ...this.suspects.clear()].map(({ record }) => record)
    for (const record of [...waiting, ...this.probes.tried.takeAll()]) this.ready.putBack(record)
  }

  #putBack({ ambiguous }: { readonly ambiguous: boolean }): void {
    this.#plan.book.move(this.index, 'inFlight', 'queued', 1, 0)
    if (ambiguous) this.#plan.book.count(this.index, 'ambiguousRetries', 1)
  }
}
