import type { Timer } from '../runtime/clock.js'
import type { Settled } from './attempt.js'
import { Holds } from './breakers.js'
import { Bounds } from './buffer-bounds.js'
import { Traffic } from './dispatcher.js'
import { Drains } from './drain.js'
import { Lane } from './lane.js'
import { LastDrain } from './last-drain.js'
import type { Ledger } from './ledger.js'
import { LedgerBook } from './ledger-book.js'
import type { Observer } from './observer.js'
import type { Acceptable, DeliveryPlan } from './plan.js'
import { HeldRecords } from './record-buffer.js'
import { type Pending, pendingRecord } from './record-queue.js'
import type { BlockingSender } from './sender.js'
import { noStore, type Store } from './store.js'

/**
 * Takes records, holds them within bounds, sends them, and accounts for every one. It knows no logger, no HTTP, no thread
 * and no disk: sender, store, clock and random source come from outside.
 */
export class Delivery {
  readonly book: LedgerBook
  /** What it has in memory; a store talks to it. */
  readonly held: HeldRecords
  readonly #plan: DeliveryPlan
  readonly #lanes: readonly Lane[]
  readonly #store: Store
  readonly #bounds: Bounds
  readonly #drains: Drains
  readonly #holds: Holds
  readonly #traffic: Traffic
  #sequence = 0
  /** Sends wait so long; 0: not at all. */
  #calmMs = 0
  #calmed: Timer | undefined
  #closing: { readonly drain: { end(): void }; readonly ledger: Promise<Ledger> } | undefined

  constructor(plan: DeliveryPlan) {
    this.#plan = plan
    this.book = new LedgerBook(plan.lanes, plan.memory)
    const due = (lane: Lane) => this.#supplied(lane)
    const lanes: Lane[] = []
    this.#drains = new Drains({ lanes, clock: plan.clock, stats: () => this.stats() })
    for (const [index, name] of plan.lanes.entries()) {
      const bounds = {
        maxConnections: plan.maxConnections,
        maxDepth: () => Math.min(plan.maxBatch, plan.sender.carriage(name.kind).maxDepth),
        patienceMs: plan.requestTimeoutMs / 4,
      }
      const { clock, random, retry } = plan
      lanes.push(new Lane({ name, index, bounds, due, clock, random, retry, drains: this.#drains.open }))
    }
    this.#lanes = lanes
    this.#store = plan.store ?? noStore
    this.#bounds = new Bounds(plan.limits, this.#lanes)
    this.held = new HeldRecords({
      lanes: this.#lanes,
      bounds: this.#bounds,
      store: this.#store,
      book: this.book,
      clock: plan.clock,
      tell: (message) => this.#tell(message),
      nextSequence: () => this.#sequence++,
      closing: () => this.#closing !== undefined,
      settled: (lane) => this.#drains.check(lane),
      supplied: due,
    })
    this.#holds = new Holds({
      lanes: this.#lanes,
      clock: plan.clock,
      random: plan.random,
      retry: plan.retry,
      probe: plan.probe,
      drains: this.#drains.open,
      sendProbe: (lane) => this.#traffic.probe(lane),
      changed: (lane) => this.#describe(lane),
      lasting: (lane, reason) => this.#tell((observer) => observer.outage(lane.name, { reason })),
    })
    this.#traffic = new Traffic({
      ...plan,
      lanes: this.#lanes,
      book: this.book,
      holds: this.#holds,
      drains: this.#drains,
      tell: (message) => this.#tell(message),
      settled: (lane, record, outcome) => this.#release(lane, record, outcome),
      reject: (lane, record, rejection) => this.#release(lane, record, rejection, { judged: false }),
      carried: (lane, successes) => this.#carried(lane, successes),
    })
    for (const lane of this.#lanes) this.#describe(lane)
  }

  /** Take a record into a lane. It is counted from here on; never throws, never blocks. */
  accept(laneIndex: number, { body, severity, handedOver = false }: Acceptable): void {
    const lane = this.#lanes[laneIndex]!
    const bytes = Buffer.byteLength(body)
    const sequence = this.#sequence++
    const idempotencyKey = `${this.#plan.keyPrefix}-${sequence.toString(36)}`
    this.book.accept(laneIndex, { bytes, handedOver })
    if (this.#closing !== undefined) {
      this.held.drop(lane, { from: 'queued', reason: 'closed', bytes })
      return
    }
    const { generation } = lane
    const record = pendingRecord({ body, bytes, severity, idempotencyKey }, { sequence, generation })
    if (this.held.take(lane, record)) this.#supplied(lane)
  }

  /**
   * With more than 0, what comes waits that long before it is sent, in ms: in a process that is about to end nobody would hear the answer, and
   * the record would be sent twice.
   */
  calm(delayMs: number): void {
    this.#calmMs = delayMs
  }

  /** Count a record that came after its owner closed: accepted, and dropped by `closed`. */
  refuse(laneIndex: number): void {
    this.book.accept(laneIndex, { bytes: 0, handedOver: false })
    this.held.drop(this.#lanes[laneIndex]!, { from: 'queued', reason: 'closed', bytes: 0 })
  }

  /** A `track` with a bad number: counted outside the equation. */
  invalid(): void {
    this.book.invalid()
  }

  stats(): Ledger {
    return this.book.read()
  }

  /** True while a record of this size can be accepted without shedding another one. True after {@link close}, too. */
  hasRoom(bytes: number): boolean {
    return this.#bounds.hasRoom(bytes)
  }

  /** Resolves when {@link hasRoom} becomes true for a record of this size. */
  whenRoom(bytes: number): Promise<void> {
    return this.#bounds.whenRoom(bytes)
  }

  /**
   * Wait until what was accepted so far is settled. Every lane makes one attempt at once, except inside a Retry-After; a lane
   * that is still paused after it is given up. Resolves with the ledger, at the deadline at the latest; never rejects.
   */
  async flush({ timeoutMs }: { timeoutMs: number }): Promise<Ledger> {
    this.held.refill()
    return this.#drains.begin(timeoutMs).ledger
  }

  /**
   * Leave what is held to the store, for a process that may be about to die. Should it live on, the next record or drain brings it back,
   * and a request that is under way now may be made twice.
   */
  park(): Ledger {
    this.#takeAllBack()
    this.held.parkAll()
    return this.stats()
  }

  /**
   * Take no more, flush, then release everything. What could not be delivered by then is left to the store, else counted as dropped
   * by `shutdown`.
   * Every call gives the same promise; the earliest of their deadlines counts.
   */
  close({ timeoutMs }: { timeoutMs: number }): Promise<Ledger> {
    if (this.#closing === undefined) {
      this.#bounds.close()
      for (const lane of this.#lanes) lane.severeFirst = true
      this.held.refill()
      const drain = this.#drains.begin(timeoutMs, { last: true })
      this.#closing = { drain, ledger: drain.ledger.then(() => this.#end()) }
      return this.#closing.ledger
    }
    const { drain, ledger } = this.#closing
    const timer = this.#plan.clock.schedule(drain.end, timeoutMs, true)
    void ledger.then(() => timer.cancel())
    return ledger
  }

  /**
   * Deliver without returning to the event loop, until `timeoutMs` at most, for a process that is ending: step by step, so that several
   * can do so side by side. Nothing else may be asked of this delivery afterwards but its ledger, where what could not be delivered
   * is still queued.
   */
  drainSync(sender: BlockingSender, { timeoutMs }: { timeoutMs: number }): LastDrain {
    this.#stop()
    this.#takeAllBack()
    const { clock, random, retry, maxConnections, requestTimeoutMs } = this.#plan
    const deadline = clock.now() + timeoutMs
    const tell = (message: (observer: Observer) => void) => this.#tell(message)
    const settled = (lane: Lane, record: Pending, outcome: Settled) => this.#release(lane, record, outcome)
    const reject = (lane: Lane, record: Pending, rejection: Settled) =>
      this.#release(lane, record, rejection, { judged: false })
    const ways = { book: this.book, tell, settled, reject, sender }
    return new LastDrain({
      lanes: this.#lanes,
      ...ways,
      clock,
      random,
      retry,
      maxConnections,
      requestTimeoutMs,
      deadline,
    })
  }

  /** After a {@link drainSync}, or in its place: leave what is still held to the store. Nothing may come after it. */
  leave(): void {
    this.#stop()
    this.#takeAllBack()
    this.held.parkAll()
    this.#store.close()
  }

  /** No answer will be heard any more. */
  #takeAllBack(): void {
    for (const { lane, records } of this.#traffic.abandon()) {
      for (const record of records) {
        this.book.putBack(lane.index, { ambiguous: true })
        lane.ready.putBack(record)
      }
    }
  }

  #stop(): void {
    this.#bounds.close()
    this.#calmed?.cancel()
    this.#holds.stop()
    this.#traffic.stop()
  }

  async #end(): Promise<Ledger> {
    this.#stop()
    for (const lane of this.#lanes) {
      lane.closed = true
      this.#describe(lane)
    }
    this.#store.look()
    for (const lane of this.#lanes) {
      lane.gather()
      for (const record of lane.cut(Number.POSITIVE_INFINITY)) this.held.leave(lane, record, 'queued')
    }
    for (const { lane, records } of this.#traffic.abandon()) {
      for (const record of records) this.held.leave(lane, record, 'inFlight')
    }
    this.#store.close()
    await this.#plan.sender.close()
    return this.stats()
  }

  #supplied(lane: Lane): void {
    if (this.#calmMs > 0) this.#supplyLater()
    else this.#send(lane)
  }

  #send(lane: Lane): void {
    if (lane.hold === undefined) this.#traffic.wake(lane)
    else lane.hold.supplied(lane)
  }

  #supplyLater(): void {
    const { clock } = this.#plan
    this.#calmed ??= clock.schedule(() => {
      this.#calmed = undefined
      for (const lane of this.#lanes) this.#send(lane)
    }, this.#calmMs)
  }

  #carried(lane: Lane, successes: number): void {
    this.#describe(lane)
    this.held.refill()
    if (successes > 0 && this.held.roomy && this.#closing === undefined) this.#tellLosses(lane)
  }

  /** The record needs no further attempt. `judged`: by the service. */
  #release(lane: Lane, record: Pending, outcome: Settled, { judged = true } = {}): void {
    if (judged) lane.succeeded(outcome.type === 'delivered', this.#plan.clock.now())
    if (record.suspicion !== undefined) lane.suspects.acquitted(record)
    if (outcome.type === 'delivered') this.book.deliver(lane.index, record.bytes)
    else {
      this.book.lastError(lane.index, outcome.reason)
      this.book.reject(lane.index, record.bytes)
      this.#store.reject(lane.index, record, outcome)
    }
    this.held.release(lane, record)
    if (outcome.type === 'rejected') this.#tell((observer) => observer.rejected(lane.name, outcome))
  }

  #tellLosses(lane: Lane): void {
    const losses = lane.losses.take(this.#plan.clock.now())
    if (losses !== undefined) this.#tell((observer) => observer.recovered(lane.name, losses))
  }

  #describe(lane: Lane): void {
    const { connections, depth } = lane.concurrency
    const { sender } = this.#plan.sender.carriage(lane.name.kind)
    const { state, described: was } = lane
    if (was.state === state && was.connections === connections && was.depth === depth && was.sender === sender) return
    lane.described = { state, connections, depth, sender }
    this.book.describe(lane.index, lane.described)
  }

  #tell(message: (observer: Observer) => void): void {
    try {
      message(this.#plan.observer)
    } catch {
      // Whoever listens must not be able to disturb delivery.
    }
  }
}
