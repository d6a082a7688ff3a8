import type { BufferBounds, Candidate } from './buffer-bounds.js'
import { KeptRecords } from './kept-records.js'
import type { Lane } from './lane.js'
import type { DropReason } from './ledger.js'
import type { LedgerBook } from './ledger-book.js'
import type { DeliveryPlan } from './plan.js'
import type { RecordBatch } from './record-batch.js'
import { type Newcomer, RecordIntake } from './record-intake.js'
import { type HeldRecord, type Pending, pendingRecord } from './record-queue.js'
import type { Rejection, Settled } from './rules.js'
import { noStore, type Place, type Restored, type Room, type Store, type StoreOwner } from './store.js'
import { WaitingRecords } from './waiting-records.js'

interface RecordBufferPlan extends Pick<DeliveryPlan, 'clock' | 'observer'> {
  readonly lanes: readonly Lane[]
  readonly bounds: BufferBounds
  readonly store: Store
  readonly book: LedgerBook
}

/** The head in the ledger from which a record leaves memory. */
type From = 'queued' | 'inFlight'

/** What is said of settled records that are neither objects nor in the store. */
const plain = { keyBytes: 0, onDisk: 0 }
const noRoom: Room = { records: 0, bytes: 0 }
/** Records that come back from the store in one go, at most. */
const maxRestored = 1000

/**
 * The records that an engine has in memory, within bounds, from their acceptance until they are settled. A record that has to leave
 * before goes to the store, and comes back when there is room. Without a place in the store it is given up.
 */
export class RecordBuffer implements StoreOwner {
  readonly #plan: RecordBufferPlan
  readonly #kept: KeptRecords
  readonly #waiting: WaitingRecords
  /** Takes new records. */
  readonly intake: RecordIntake

  constructor(plan: RecordBufferPlan) {
    this.#plan = plan
    this.#kept = new KeptRecords({ lanes: plan.lanes.length, book: plan.book })
    this.#waiting = new WaitingRecords(plan.lanes, (lane, record) => this.#leavesMemory(lane, record))
    this.intake = new RecordIntake({
      ...plan,
      keep: (lane, record) => this.#keep(lane, record),
      parkWaiting: () => this.#waiting.park(),
      shed: (candidate) => this.#shed(candidate),
      putAway: (lane, record) => this.#putAway(lane, record, { from: 'queued', reason: plan.store.lossReason }),
      refuse: (lane, from) => this.refuse(lane, from),
    })
  }

  /** Count a record that came after its owner closed: accepted, and dropped by `closed`. */
  refuse(lane: Lane, from: Newcomer = 'none'): void {
    this.#drop(lane, { from, reason: 'closed', bytes: 0 })
  }

  /** The service has delivered or judged a record. */
  settle(lane: Lane, record: Pending, outcome: Settled): void {
    lane.succeeded({ taken: outcome.type === 'delivered', count: 1 })
    lane.suspects.acquitted(record)
    if (outcome.type === 'rejected') this.giveUp(lane, record, outcome)
    else this.#release(lane, record, 'delivered')
  }

  /** The service has delivered `count` records of a batch, from the one at `from` on. */
  deliver(lane: Lane, batch: RecordBatch, { from, count }: { readonly from: number; readonly count: number }): void {
    const bytes = batch.bytesFrom(from, count)
    lane.succeeded({ taken: true, count })
    const { keyBytes, onDisk } = batch.isPlain ? plain : this.#settleObjects(lane, batch, from, count)
    this.#plan.book.move(lane.index, 'inFlight', 'delivered', count, bytes, onDisk)
    this.#plan.bounds.release(bytes + keyBytes, count)
    lane.outstanding.letGoAll(batch, from, count)
  }

  /** A record in flight is rejected, by the service or because it failed too often. */
  giveUp(lane: Lane, record: Pending, rejection: Rejection): void {
    const { store, observer } = this.#plan
    lane.failed(rejection.reason)
    store.reject(lane.index, record, rejection)
    this.#release(lane, record, 'rejected')
    observer.rejected(lane.name, { ...rejection, body: record.body })
  }

  /** The process ends before the record could be sent: it stays on disk where it can, else it is given up. */
  leave(lane: Lane, record: HeldRecord, from: From): void {
    this.#putAway(lane, record, { from, reason: 'shutdown' })
    this.#letGo(lane, record)
  }

  /** Put into the store all that is queued. Records that find no place there stay in memory. */
  parkAll(): void {
    this.#plan.store.look()
    for (const lane of this.#plan.lanes) {
      lane.gather()
      if (this.#plan.store === noStore) continue
      lane.ready.visit(lane.ready.length, (record) => {
        if (record.place === undefined) this.#keep(lane, record)
        return this.#leavesMemory(lane, record)
      })
    }
  }

  /** Bring parked records back when there is room again: by severity, then by age. */
  refill(): void {
    const { lanes, bounds, store } = this.#plan
    for (const lane of lanes) {
      const { outstanding, ready } = lane
      if (outstanding.parked === 0 || (!bounds.low && ready.length > 0)) continue
      // Suspects that fill the memory keep no others out.
      const room = bounds.low ? bounds.spare : bounds.single
      if (room.records === 0) continue
      const records = store.unpark(lane.index, { ...room, records: Math.min(maxRestored, room.records) })
      // They are counted as parked until they are in memory: a drain waits for them all the while.
      this.#restore(lane, records, outstanding.oldest)
      outstanding.unpark(records.length)
    }
  }

  /** Report what a lane has lost, now that it delivers again, if there is room. */
  reportLosses(lane: Lane): void {
    const { bounds, clock, observer } = this.#plan
    if (this.intake.closed || !bounds.roomy) return
    const losses = lane.losses.take(clock.now())
    if (losses !== undefined) observer.recovered(lane.name, losses)
  }

  room(laneIndex: number): Room {
    const lane = this.#plan.lanes[laneIndex]!
    if (lane.ready.length > 0 || this.intake.closed) return noRoom
    const { bounds } = this.#plan
    const { spare } = bounds
    if (lane.breaker === undefined && spare.records > 0) return spare
    // All records that the lane has may be at fault: another one can show it.
    if (bounds.single.records === 0) this.#waiting.park()
    return bounds.single
  }

  adopt(laneIndex: number, count: number): void {
    this.#plan.book.move(laneIndex, 'adopted', 'spooled', count, 0)
  }

  restore(laneIndex: number, records: readonly Restored[]): void {
    const lane = this.#plan.lanes[laneIndex]!
    // No drain waits for records that another process has left.
    this.#restore(lane, records, lane.outstanding.newest)
  }

  written(): void {
    this.#kept.written()
  }

  forgotten(laneIndex: number, count: number): void {
    this.#kept.forgotten(laneIndex, count)
  }

  lost(laneIndex: number, { count, reason, adopted }: { count: number; reason: DropReason; adopted: boolean }): void {
    const lane = this.#plan.lanes[laneIndex]!
    // At the end it is not for want of room that they are lost.
    const loss = { count, reason: reason === 'queue-full' && this.intake.closed ? ('shutdown' as const) : reason }
    this.#plan.book.move(lane.index, 'spooled', loss.reason, count, 0)
    this.#reportLoss(lane, loss)
    if (!adopted) lane.outstanding.lose(count)
  }

  #keep(lane: Lane, record: HeldRecord): void {
    const place = this.#plan.store.keep(lane.index, record)
    record.place = place
    if (place !== undefined) this.#kept.took(lane.index)
  }

  /** Returns the bytes of the keys that these records have of their own, and how many were on disk. */
  #settleObjects(lane: Lane, batch: RecordBatch, from: number, count: number): typeof plain {
    let keyBytes = 0
    let onDisk = 0
    for (let index = from; index < from + count; index++) {
      const record = batch.objectAt(index)
      if (record !== undefined) {
        lane.suspects.acquitted(record)
        keyBytes += record.heldBytes - record.bytes
      }
      onDisk += this.#forget(lane, batch.placeOf(index))
    }
    return { keyBytes, onDisk }
  }

  /** The record needs no place in the store any more. Returns 1 where it was on disk. */
  #forget(lane: Lane, place: Place | undefined): number {
    return place !== undefined && this.#plan.store.settle(place) ? this.#kept.letGo(lane.index) : 0
  }

  #release(lane: Lane, record: Pending, to: Settled['type']): void {
    const onDisk = this.#forget(lane, record.place)
    this.#plan.book.move(lane.index, 'inFlight', to, 1, record.bytes, onDisk)
    this.#letGo(lane, record)
  }

  #letGo(lane: Lane, record: HeldRecord): void {
    this.#plan.bounds.release(record.heldBytes)
    lane.outstanding.letGo(record.generation)
  }

  #restore(lane: Lane, records: readonly Restored[], generation: number): void {
    for (const record of records) {
      this.#plan.book.move(lane.index, 'spooled', 'queued', 1, record.bytes, 1)
      lane.outstanding.took(generation)
      this.#plan.bounds.take(record.bytes)
      lane.ready.putBack(pendingRecord(record, { sequence: this.intake.nextSequence(), generation }))
    }
    if (records.length === 0) return
    this.#kept.restored(lane.index, records.length)
    lane.due()
  }

  #shed({ lane, shelf, severity }: Candidate): void {
    const record = shelf.takeOldestOf(severity)
    this.#putAway(lane, record, { from: 'queued', reason: this.#plan.store.lossReason })
    this.#letGo(lane, record)
  }

  /** True when the record is in the store alone now. */
  #leavesMemory(lane: Lane, record: HeldRecord): boolean {
    if (!this.#park(lane, record, 'queued')) return false
    this.#letGo(lane, record)
    return true
  }

  #putAway(lane: Lane, record: HeldRecord, { from, reason }: { from: From; reason: DropReason }): void {
    if (this.#park(lane, record, from)) return
    // The disk may have failed when the record came, and take it now.
    if (this.#plan.store !== noStore) this.#keep(lane, record)
    if (!this.#park(lane, record, from)) this.#drop(lane, { from, reason, bytes: record.bytes })
  }

  #park(lane: Lane, { place, bytes }: HeldRecord, from: From): boolean {
    if (place === undefined || !this.#plan.store.park(place)) return false
    this.#plan.book.move(lane.index, from, 'spooled', 1, bytes, this.#kept.letGo(lane.index))
    lane.outstanding.park()
    return true
  }

  #drop(lane: Lane, { from, reason, bytes }: { from: From | Newcomer; reason: DropReason; bytes: number }): void {
    this.#plan.book.move(lane.index, from, reason, 1, bytes)
    if (from === 'inFlight' && !lane.reach.isNowhere) this.#plan.book.count(lane.index, 'ambiguousRetries', 1)
    this.#reportLoss(lane, { reason, count: 1 })
  }

  #reportLoss(lane: Lane, loss: { reason: DropReason; count: number }): void {
    lane.losses.add(loss, this.#plan.clock.now())
    this.#plan.observer.dropped(lane.name, loss)
  }
}
