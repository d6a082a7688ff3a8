import { type Backing, noBacking } from '../log/backing.js'
import { KeyWriter } from '../log/idempotency-key.js'
import { MemoryBounds } from '../log/memory-bounds.js'
import { RecordLog } from '../log/record-log.js'
import { gone } from '../log/segment.js'
import type { Severity } from '../records/level.js'
import type { RecordKind } from '../records/wire.js'
import type { Loop } from '../runtime/loop.js'
import { Batch, type BatchOwner } from './batch.js'
import { Concurrency } from './concurrency.js'
import { Driver } from './driver.js'
import { Intake } from './intake.js'
import { Lane } from './lane.js'
import type { DropReason, Ledger, SuppressReason } from './ledger.js'
import { LedgerBook } from './ledger-book.js'
import { Machine } from './machine.js'
import { guarded } from './observer.js'
import type { Acceptable, DeliveryPlan, FlushTime } from './plan.js'
import { Reach } from './reach.js'
import { patienceMs } from './rules.js'
import type { Sender } from './sender.js'

/**
 * Takes records, holds them within bounds, sends them, and accounts for every one. It knows no logger, no HTTP, no thread and no disk:
 * sender, backing, loop and random source come from outside.
 *
 *     accept ─ RecordLog ─ Driver ─ Machine ─ Sender
 */
export class Delivery {
  readonly book: LedgerBook
  /** By their index. */
  readonly lanes: readonly Lane[]
  readonly #plan: DeliveryPlan
  readonly #backing: Backing
  readonly #bounds: MemoryBounds
  readonly #machine: Machine
  readonly #intake: Intake
  readonly #driver: Driver
  /** The one that sends now. */
  #sender: Sender
  #closing: { readonly drain: { end(): void }; readonly ledger: Promise<Ledger> } | undefined

  constructor(plan: DeliveryPlan) {
    const { loop, service, backing = noBacking, maxConnections, maxBatch, requestTimeoutMs } = plan
    this.#plan = plan
    this.#sender = plan.sender
    const sender = { carriage: (kind: RecordKind) => this.#sender.carriage(kind) }
    this.#backing = backing
    const observer = guarded(plan.observer)
    this.book = new LedgerBook(plan.lanes, plan.memory)
    const { book } = this
    const reach = new Reach({ clock: loop, service, tell: () => this.#machine.tell({ type: 'unreachable' }) })
    this.#bounds = new MemoryBounds({
      limits: plan.limits,
      backing,
      isGated: (lane) => this.lanes[lane]!.gate !== undefined,
      lost: (lane, reason, count) => this.#intake.lost(this.lanes[lane]!, reason, count),
    })
    this.lanes = plan.lanes.map(
      (name, index) =>
        new Lane({
          name,
          index,
          book,
          sender,
          window: new Concurrency({
            maxConnections,
            maxDepth: () => Math.min(maxBatch, sender.carriage(name.kind).maxDepth),
            patienceMs: patienceMs(requestTimeoutMs, { draining: false }),
          }),
          log: (severity) => new RecordLog({ lane: index, severity, ledger: book, bounds: this.#bounds, backing }),
        }),
    )
    this.#intake = new Intake({
      lanes: this.lanes,
      book,
      bounds: this.#bounds,
      backing,
      observer,
      loop,
      changed: (lane) => this.#driver.due(lane),
    })
    const keys = new KeyWriter(plan.keyPrefix)
    const owner: BatchOwner = {
      onSettle: (...about) => this.#driver.onSettle(...about),
      onDone: (batch) => this.#driver.onDone(batch),
    }
    this.#machine = new Machine({
      ...plan,
      sender,
      backing,
      book,
      reach,
      lanes: this.lanes,
      makeBatch: ({ name }) => new Batch({ ...name, keys, owner }),
      nextSequence: () => this.#intake.sequence,
      isRoomy: () => this.isRoomy,
      mayTellLosses: () => !this.#intake.isClosed && this.isRoomy,
    })
    this.#driver = new Driver({ machine: this.#machine, sender: plan.sender, backing, loop, reach, observer })
  }

  /** True while at least half of the room in memory is free. */
  get isRoomy(): boolean {
    return this.#bounds.isRoomy
  }

  /** Take a record into a lane. It is counted from here on. Never throws, never blocks. */
  accept(laneIndex: number, record: Acceptable): void {
    this.#intake.accept(this.lanes[laneIndex]!, record)
  }

  /** The log for records of a lane that dead engines have left. */
  adoptedLog(laneIndex: number, severity: Severity): RecordLog {
    return this.lanes[laneIndex]!.adopted.of(severity)
  }

  /** A lane has got records that dead engines have left. */
  adopted(laneIndex: number): void {
    this.#driver.due(this.lanes[laneIndex]!)
  }

  /**
   * On the clock: when the lane sends the records that come now. Undefined where they go out at once, and where they are on disk before the end of their
   * turn.
   */
  gathersUntil(laneIndex: number): number | undefined {
    const lane = this.lanes[laneIndex]!
    const gathers = this.#backing === noBacking && this.#machine.isGathering(lane, this.#plan.loop.now())
    return gathers ? lane.gathersUntil : undefined
  }

  /** Let new records wait for so long, whatever `lingerMs` is. */
  gatherFor(ms: number): void {
    this.#driver.happened({ type: 'gather', ms })
  }

  /** Send what the lanes gather: the caller has gathered it long enough. */
  sendGathered(): void {
    this.#driver.happened({ type: 'gather', ms: 0 })
  }

  /**
   * A line is read later, and its `origin` is 'gathered' then. False where half of the memory has no place for its record: it has to be read now, for
   * nothing can be shed for it.
   */
  keepUnread(laneIndex: number, bytes: number): boolean {
    const { maxBatch, limits } = this.#plan
    const lane = this.lanes[laneIndex]!
    if (lane.ready + lane.unread + 1 >= maxBatch || lane.unread >= limits.maxQueueRecords / 4) return false
    this.#bounds.take(bytes)
    if (!this.isRoomy) {
      this.#bounds.release(bytes)
      return false
    }
    lane.unread++
    this.book.move(laneIndex, 'taken', 'queued', 1, 0)
    return true
  }

  /** Such lines are read now. */
  reads(laneIndex: number, count: number, bytes: number): void {
    this.lanes[laneIndex]!.unread -= count
    this.#bounds.release(bytes, count)
  }

  /** Count a record that nobody can deliver: accepted, and dropped. */
  refuse(laneIndex: number, reason: DropReason): void {
    this.#intake.refuse(this.lanes[laneIndex]!, reason)
  }

  /** Something was hidden in a log record that has been accepted. */
  redacted(laneIndex: number): void {
    this.book.count(laneIndex, 'redacted', 1)
  }

  /** A log record is left out on its arrival, as configured. */
  suppress(laneIndex: number, reason: SuppressReason): void {
    this.book.move(laneIndex, 'taken', reason, 1, 0)
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
  async flush(time: FlushTime): Promise<Ledger> {
    return this.#drain(time, { last: false }).ledger
  }

  /**
   * Leave the records to the disk, for a process that may be about to die. Should it live on, the next record or drain sends them, and a
   * request that is in flight now may be made twice.
   */
  park(): Ledger {
    this.#driver.happened({ type: 'abandon' })
    this.#evictAll()
    return this.stats()
  }

  /**
   * Take no more, flush, then release everything. Records that could not be delivered by then are left to the disk, else counted as
   * dropped by `shutdown`. Every call gives the same promise; the earliest of their deadlines counts.
   */
  close(time: FlushTime): Promise<Ledger> {
    if (this.#closing === undefined) {
      this.#bounds.close()
      const drain = this.#drain(time, { last: true })
      this.#intake.close()
      this.#closing = { drain, ledger: drain.ledger.then(() => this.#end()) }
      return this.#closing.ledger
    }
    const { drain, ledger } = this.#closing
    const timer = this.#plan.loop.schedule(drain.end, time.timeoutMs, true)
    void ledger.then(() => timer.cancel())
    return ledger
  }

  /** Give up what is in flight, before its sender is closed: else that would count as a failure of the service. */
  abandon(): void {
    this.#driver.abandon()
  }

  /**
   * Deliver without returning to the event loop, within the time, for a process that is ending. The result is called again and
   * again: it turns the loop for `waitMs` at most, and returns true when nothing more can be done, or no time is left.
   * Afterwards only the ledger may be asked for. It counts as queued what could not be delivered.
   */
  drainSync(loop: Loop & { turn(waitMs: number): void }, sender: Sender, time: FlushTime): (waitMs: number) => boolean {
    this.#bounds.close()
    this.#intake.close()
    this.#sender = sender
    this.#driver.moveTo(loop, sender)
    let isOver = false
    const drained = () => {
      this.#driver.stop()
      isOver = true
    }
    this.#driver.drain(time, { last: true, drained })
    return (waitMs) => {
      if (!isOver) loop.turn(waitMs)
      return isOver
    }
  }

  /** Remember why no lane can deliver any more. */
  failed(reason: string): void {
    for (const lane of this.lanes) lane.failed(reason)
  }

  /** After an {@link drainSync}, or in its place: leave the records to the disk. Nothing may be called after it. */
  leave(): void {
    this.#bounds.close()
    this.#driver.leave()
    this.#evictAll()
  }

  #drain(time: FlushTime, { last }: { readonly last: boolean }): { readonly ledger: Promise<Ledger>; end(): void } {
    let end = () => {}
    const ledger = new Promise<Ledger>((resolve) => {
      ;({ end } = this.#driver.drain(time, { last, drained: () => resolve(this.stats()) }))
    })
    return { ledger, end }
  }

  #evictAll(): void {
    this.#backing.commit()
    for (const log of this.lanes.flatMap(({ logs }) => logs.all))
      for (const segment of log.segments()) log.evict(segment)
    this.#intake.tellLosses()
  }

  async #end(): Promise<Ledger> {
    this.#driver.stop()
    this.#evictAll()
    for (const lane of this.lanes) for (const log of lane.logs.all) this.#giveUp(lane, log)
    this.#intake.tellLosses()
    await this.#plan.sender.close()
    return this.stats()
  }

  /** The records that are in memory alone are lost with it. */
  #giveUp(lane: Lane, log: RecordLog): void {
    let count = 0
    for (const segment of [...log.segments()]) {
      for (let index = segment.resident; index < segment.count; index++) {
        if (segment.states[index] === gone) continue
        log.mark(segment, index, 1, gone, 'shutdown')
        count++
      }
    }
    if (count > 0) this.#intake.lost(lane, 'shutdown', count)
  }
}
