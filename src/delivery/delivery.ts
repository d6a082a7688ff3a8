import { KeyWriter } from '../log/idempotency-key.js'
import type { Severity } from '../records/level.js'
import type { Timer } from '../runtime/clock.js'
import { Breakers } from './breakers.js'
import { BufferBounds } from './buffer-bounds.js'
import { Consequences } from './consequences.js'
import { Dispatcher } from './dispatcher.js'
import { Drains, type FlushTime } from './drain.js'
import type { BodyRoom } from './fresh-log.js'
import { Lane, type LaneEvents } from './lane.js'
import { LastDrain } from './last-drain.js'
import type { Ledger, SuppressReason } from './ledger.js'
import { LedgerBook } from './ledger-book.js'
import { guarded, type Observer } from './observer.js'
import type { DeliveryPlan } from './plan.js'
import { Reach } from './reach.js'
import { RecordBuffer } from './record-buffer.js'
import { type Acceptable, originOf } from './record-intake.js'
import type { BlockingSender } from './sender.js'
import { noStore, type Store } from './store.js'

/** A process that logs without a pause lives on: its records wait no longer than this. */
const longestCalmMs = 1000

/**
 * Takes records, holds them within bounds, sends them, and accounts for every one. It knows no logger, no HTTP, no thread and no disk:
 * sender, store, clock and random source come from outside.
 *
 *     accept ─ RecordBuffer ─ Lane ─ Dispatcher ─ Attempt ─ Sender
 *                    │                               │ an outcome for each record
 *                    ├── delivered, rejected: settle ┤
 *                    │                               └ retry, pause: Consequences ─ Breakers, Suspects, back to the lane
 *                  Store
 *
 * Lanes, and all that works on them, call downwards. A lane calls back by its {@link LaneEvents}.
 */
export class Delivery {
  readonly book: LedgerBook
  /** The records in memory. A store works for it. */
  readonly buffer: RecordBuffer
  readonly #plan: DeliveryPlan
  readonly #observer: Observer
  readonly #store: Store
  readonly #reach: Reach
  readonly #lanes: readonly Lane[]
  readonly #bounds: BufferBounds
  readonly #drains: Drains
  readonly #breakers: Breakers
  /** By index of the lane. */
  readonly #dispatchers: readonly Dispatcher[]
  /** New records wait this long before they are sent; 0: not at all. */
  #calmMs = 0
  #calmed: Timer | undefined
  /** The moment at which the first of these records came. */
  #calmSince: number | undefined
  #closing: { readonly drain: { end(): void }; readonly ledger: Promise<Ledger> } | undefined

  constructor(plan: DeliveryPlan) {
    this.#plan = plan
    this.#store = plan.store ?? noStore
    this.#observer = guarded(plan.observer)
    this.book = new LedgerBook(plan.lanes, plan.memory)
    const { clock, service } = plan
    const reach = new Reach({ clock, service, tell: () => this.#observer.unreachable?.() })
    this.#reach = reach
    this.#drains = new Drains({ clock: plan.clock, reach, stats: () => this.stats() })
    const events: LaneEvents = {
      due: (lane) => this.#due(lane),
      wake: (lane) => this.#dispatchers[lane.index]!.wake(),
      probe: (lane) => this.#dispatchers[lane.index]!.probe(),
      settled: (lane) => this.#drains.check(lane),
    }
    const keys = new KeyWriter(plan.keyPrefix)
    const keyOf = (sequence: number) => keys.textOf(sequence)
    const shared = { ...plan, store: this.#store, observer: this.#observer, book: this.book, events, keyOf, reach }
    const drains = this.#drains.open
    const lanes = plan.lanes.map((name, index) => new Lane({ ...shared, name, index, drains }))
    this.#lanes = lanes
    this.#bounds = new BufferBounds(plan.limits, lanes)
    this.buffer = new RecordBuffer({ ...shared, lanes, bounds: this.#bounds })
    this.#breakers = new Breakers({ ...shared, lanes, drains })
    const consequences = new Consequences({ ...shared, buffer: this.buffer, breakers: this.#breakers })
    const work = { ...plan, keys, buffer: this.buffer, consequences, drains: this.#drains }
    this.#dispatchers = lanes.map((lane) => new Dispatcher({ ...work, lane }))
  }

  /** Take a record into a lane. It is counted from here on. Never throws, never blocks. */
  accept(laneIndex: number, record: Acceptable): void {
    const lane = this.#lanes[laneIndex]!
    if (this.buffer.intake.accept(lane, record)) this.#due(lane)
  }

  /** Room for a body of at most this many bytes. Write it there, then {@link append} it, before anything else is accepted. */
  room(laneIndex: number, bytes: number): BodyRoom {
    return this.buffer.intake.roomFor(this.#lanes[laneIndex]!, bytes)
  }

  /** {@link accept} a record whose body was written into the room of its lane. */
  append(laneIndex: number, bytes: number, severity: Severity, handedOver: boolean): void {
    const lane = this.#lanes[laneIndex]!
    if (this.buffer.intake.acceptWritten(lane, bytes, severity, originOf(handedOver))) this.#due(lane)
  }

  /**
   * Let new records wait `delayMs` before they are sent; 0: not at all. In a process that is about to end the answer would come too late,
   * and the record would be sent twice. Each new record starts the wait again, for a second at most.
   */
  calm(delayMs: number): void {
    this.#calmMs = delayMs
  }

  /** Count a record that came after its owner closed: accepted, and dropped by `closed`. */
  refuse(laneIndex: number): void {
    this.buffer.refuse(this.#lanes[laneIndex]!)
  }

  /** Something was hidden in a log record that has been accepted. */
  redacted(laneIndex: number): void {
    this.book.count(laneIndex, 'redacted', 1)
  }

  /** A log record is left out on its arrival, as configured. */
  suppress(laneIndex: number, how: { readonly reason: SuppressReason; readonly handedOver: boolean }): void {
    this.book.move(laneIndex, originOf(how.handedOver), how.reason, 1, 0)
  }

  /** A log record that was suppressed as unneeded is kept (1) until it is accepted after all, or is not kept any more (-1). */
  keptForError(laneIndex: number, change: 1 | -1): void {
    this.book.count(laneIndex, 'keptForError', change)
  }

  /** A `track` with a bad number, time or key: counted outside the equation. */
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
   * Wait until the records that were accepted so far are settled. Every lane makes one attempt at once, except inside a Retry-After; a
   * lane that is still paused after it is given up. Resolves with the ledger, at the deadline at the latest; never rejects.
   */
  async flush({ timeoutMs, holdsProcess, brief }: FlushTime): Promise<Ledger> {
    this.buffer.refill()
    return this.#drains.begin(this.#lanes, { timeoutMs, last: false, holdsProcess, brief }).ledger
  }

  /**
   * Leave the records to the store, for a process that may be about to die. Should it live on, the next record or drain brings them back,
   * and a request that is in flight now may be made twice.
   */
  park(): Ledger {
    this.#takeAllBack()
    this.buffer.parkAll()
    return this.stats()
  }

  /**
   * Take no more, flush, then release everything. Records that could not be delivered by then are left to the store, else counted as
   * dropped by `shutdown`. Every call gives the same promise; the earliest of their deadlines counts.
   */
  close({ timeoutMs, brief }: Omit<FlushTime, 'holdsProcess'>): Promise<Ledger> {
    if (this.#closing === undefined) {
      this.#bounds.close()
      for (const lane of this.#lanes) lane.sendSevereFirst()
      this.buffer.refill()
      const drain = this.#drains.begin(this.#lanes, { timeoutMs, last: true, brief })
      this.buffer.intake.close()
      this.#closing = { drain, ledger: drain.ledger.then(() => this.#end()) }
      return this.#closing.ledger
    }
    const { drain, ledger } = this.#closing
    const timer = this.#plan.clock.schedule(drain.end, timeoutMs, true)
    void ledger.then(() => timer.cancel())
    return ledger
  }

  /**
   * Deliver without returning to the event loop, until `timeoutMs` at most, for a process that is ending. It goes step by step, so that
   * several deliveries can do so side by side. Afterwards only the ledger may be asked for. It counts as queued what could not be
   * delivered.
   */
  drainSync(sender: BlockingSender, { timeoutMs, brief = false }: Omit<FlushTime, 'holdsProcess'>): LastDrain {
    this.#stop()
    this.#takeAllBack()
    const deadline = this.#plan.clock.now() + timeoutMs
    const shared = {
      lanes: this.#lanes,
      observer: this.#observer,
      buffer: this.buffer,
      reach: brief ? this.#reach : undefined,
    }
    return new LastDrain({ ...this.#plan, ...shared, sender, deadline })
  }

  /** Remember why no lane can deliver any more. */
  failed(reason: string): void {
    for (const lane of this.#lanes) lane.failed(reason)
  }

  /** After a {@link drainSync}, or in its place: leave the records to the store. Nothing may be called after it. */
  leave(): void {
    this.#stop()
    this.#takeAllBack()
    this.buffer.parkAll()
    this.#store.close()
  }

  /** Records may be sent from a lane, now or after the calm. */
  #due(lane: Lane): void {
    if (this.#calmMs === 0) this.#send(lane)
    else this.#sendAfterCalm()
  }

  /** Send when no record has come for `#calmMs`, or the first has waited {@link longestCalmMs}. */
  #sendAfterCalm(): void {
    const { clock } = this.#plan
    const now = clock.now()
    this.#calmSince ??= now
    this.#calmed?.cancel()
    this.#calmed = clock.schedule(
      () => {
        this.#calmSince = undefined
        for (const each of this.#lanes) this.#send(each)
      },
      Math.min(this.#calmMs, this.#calmSince + longestCalmMs - now),
    )
  }

  #send(lane: Lane): void {
    if (lane.breaker === undefined) this.#dispatchers[lane.index]!.wake()
    else lane.breaker.recordsCame(lane)
  }

  /** Give up all requests in flight: their answers come too late. */
  #takeAllBack(): void {
    for (const lane of this.#lanes) {
      for (const record of this.#dispatchers[lane.index]!.abandon()) lane.takeBack(record)
    }
  }

  #stop(): void {
    this.#bounds.close()
    this.#calmed?.cancel()
    this.#breakers.stop()
    for (const dispatcher of this.#dispatchers) dispatcher.stop()
  }

  async #end(): Promise<Ledger> {
    this.#stop()
    for (const lane of this.#lanes) lane.close()
    this.#store.look()
    for (const lane of this.#lanes) {
      lane.gather()
      lane.ready.visit(lane.ready.length, (record) => {
        this.buffer.leave(lane, record, 'queued')
        return true
      })
    }
    for (const lane of this.#lanes) {
      for (const record of this.#dispatchers[lane.index]!.abandon()) this.buffer.leave(lane, record, 'inFlight')
    }
    this.#drains.endAll()
    this.#store.close()
    await this.#plan.sender.close()
    return this.stats()
  }
}
