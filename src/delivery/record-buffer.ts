import type { Severity } from '../records/level.js'
import type { BufferBounds, Candidate } from './buffer-bounds.js'
import { KeptRecords } from './kept-records.js'
import type { Lane } from './lane.js'
import type { DropReason } from './ledger.js'
import type { LedgerBook } from './ledger-book.js'
import type { DeliveryPlan } from './plan.js'
import { type Generation, type Pending, pendingRecord, type RecordQueue } from './record-queue.js'
import type { Rejection, Settled } from './rules.js'
import type { Restored, Room, Store, StoreOwner } from './store.js'

interface RecordBufferPlan extends Pick<DeliveryPlan, 'clock' | 'observer' | 'keyPrefix'> {
  readonly lanes: readonly Lane[]
  readonly bounds: BufferBounds
  readonly store: Store
  readonly book: LedgerBook
}

/** A record as it is accepted. */
export interface Acceptable {
  readonly body: string
  readonly severity: Severity
  /** It came from another thread, which has counted it already. @default false */
  readonly handedOver?: boolean
}

/** The place in the ledger from which a record leaves. */
type From = 'queued' | 'inFlight'

const noRoom: Room = { records: 0, bytes: 0 }
const fruitlessRecords = 10_000
/** Records that come back from the store in one go, at most. */
const maxRestored = 1000

/**
 * The records that an engine has in memory, within bounds, from their acceptance until they are settled. A record that has to leave
 * before goes to the store, and comes back when there is room. Without a place in the store it is given up.
 */
export class RecordBuffer implements StoreOwner {
  readonly #plan: RecordBufferPlan
  readonly #kept: KeptRecords
  #sequence = 0
  #closed = false
  /** Newcomers until it is worth while to look again for records that can be parked. */
  #fruitless = 0

  constructor(plan: RecordBufferPlan) {
    this.#plan = plan
    this.#kept = new KeptRecords({ lanes: plan.lanes.length, book: plan.book })
  }

  /** Count a record as accepted, and take it. False when it is given up, or waits in the store. */
  accept(lane: Lane, { body, severity, handedOver = false }: Acceptable): boolean {
    const bytes = Buffer.byteLength(body)
    const sequence = this.#sequence++
    this.#plan.book.accept(lane.index, { bytes, handedOver })
    if (this.#closed) {
      this.#drop(lane, { from: 'queued', reason: 'closed', bytes })
      return false
    }
    const idempotencyKey = `${this.#plan.keyPrefix}-${sequence.toString(36)}`
    const { newest: generation } = lane.outstanding
    return this.#take(lane, pendingRecord({ body, bytes, severity, idempotencyKey }, { sequence, generation }))
  }

  /** Count a record that came after its owner closed: accepted, and dropped by `closed`. */
  refuse(lane: Lane): void {
    this.#plan.book.accept(lane.index, { bytes: 0, handedOver: false })
    this.#drop(lane, { from: 'queued', reason: 'closed', bytes: 0 })
  }

  /** The service has delivered or judged a record. */
  settle(lane: Lane, record: Pending, outcome: Settled): void {
    lane.succeeded({ taken: outcome.type === 'delivered' })
    lane.suspects.acquitted(record)
    if (outcome.type === 'rejected') this.giveUp(lane, record, outcome)
    else {
      this.#plan.book.deliver(lane.index, record.bytes)
      this.#release(lane, record)
    }
  }

  /** A record in flight is rejected, by the service or because it failed too often. */
  giveUp(lane: Lane, record: Pending, rejection: Rejection): void {
    const { book, store, observer } = this.#plan
    lane.failed(rejection.reason)
    book.reject(lane.index, record.bytes)
    store.reject(lane.index, record, rejection)
    this.#release(lane, record)
    observer.rejected(lane.name, rejection)
  }

  /** The process ends before the record could be sent: it stays on disk where it can, else it is given up. */
  leave(lane: Lane, record: Pending, from: From): void {
    this.#putAway(lane, record, { from, reason: 'shutdown' })
    this.#letGo(lane, record)
  }

  /** Put into the store all that is queued. Records that find no place there stay in memory. */
  parkAll(): void {
    this.#plan.store.look()
    for (const lane of this.#plan.lanes) {
      lane.gather()
      for (const record of lane.ready.leastSevere(lane.ready.length)) {
        if (record.place === undefined) this.#keep(lane, record)
        this.#parkFrom(lane.ready, { lane, record })
      }
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
    if (this.#closed || !bounds.roomy) return
    const losses = lane.losses.take(clock.now())
    if (losses !== undefined) observer.recovered(lane.name, losses)
  }

  /** Accept no more. */
  close(): void {
    this.#closed = true
  }

  room(laneIndex: number): Room {
    const lane = this.#plan.lanes[laneIndex]!
    if (lane.ready.length > 0 || this.#closed) return noRoom
    const { bounds } = this.#plan
    const { spare } = bounds
    if (lane.breaker === undefined && spare.records > 0) return spare
    // All records that the lane has may be at fault: another one can show it.
    if (bounds.single.records === 0) this.#parkWaiting()
    return bounds.single
  }

  adopt(laneIndex: number, count: number): void {
    this.#plan.book.adopt(laneIndex, count)
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
    this.#kept.letGo(laneIndex, count)
  }

  lost(laneIndex: number, { count, reason, adopted }: { count: number; reason: DropReason; adopted: boolean }): void {
    const lane = this.#plan.lanes[laneIndex]!
    // At the end it is not for want of room that they are lost.
    const loss = { count, reason: reason === 'queue-full' && this.#closed ? ('shutdown' as const) : reason }
    this.#plan.book.lose(lane.index, loss)
    this.#reportLoss(lane, loss)
    if (!adopted) lane.outstanding.lose(count)
  }

  /** False when there was no room for the record. */
  #take(lane: Lane, record: Pending): boolean {
    const { bounds, store } = this.#plan
    const { severity, bytes } = record
    this.#keep(lane, record)
    if (record.place !== undefined && !bounds.fits(bytes)) this.#parkWaiting()
    const fits = bounds.makeRoom({ severity, bytes }, (candidate) => this.#shed(candidate))
    if (fits) this.#add(lane, record)
    else this.#putAway(lane, record, { from: 'queued', reason: store.lossReason })
    return fits
  }

  #keep(lane: Lane, record: Pending): void {
    record.place = this.#plan.store.keep(lane.index, record)
    if (record.place !== undefined) this.#kept.took(lane.index)
  }

  #add(lane: Lane, record: Pending): void {
    lane.outstanding.took(record)
    this.#plan.bounds.take(record.bytes)
    lane.ready.push(record)
  }

  #release(lane: Lane, record: Pending): void {
    if (record.place !== undefined && this.#plan.store.settle(record.place)) this.#kept.letGo(lane.index)
    this.#letGo(lane, record)
  }

  #letGo(lane: Lane, record: Pending): void {
    this.#plan.bounds.release(record.bytes)
    lane.outstanding.letGo(record)
  }

  #restore(lane: Lane, records: readonly Restored[], generation: Generation): void {
    for (const record of records) {
      this.#plan.book.unpark(lane.index, record.bytes)
      this.#add(lane, pendingRecord(record, { sequence: this.#sequence++, generation }))
    }
    if (records.length === 0) return
    this.#kept.restored(lane.index, records.length)
    lane.due()
  }

  #shed({ lane, shelf, record }: Candidate): void {
    shelf.remove(record)
    this.#putAway(lane, record, { from: 'queued', reason: this.#plan.store.lossReason })
    this.#letGo(lane, record)
  }

  /** Memory is full: park the records of lanes that may not send, so that they keep no others out. One stays in each lane as a probe. */
  #parkWaiting(): void {
    if (this.#fruitless > 0) {
      this.#fruitless--
      return
    }
    for (const lane of this.#plan.lanes) {
      if (lane.breaker === undefined) continue
      const { ready, probes } = lane
      const withProbe = ready.length > 0 ? ready : probes.tried
      for (const queue of [probes.tried, ready]) {
        const waiting = queue.leastSevere(queue === withProbe ? queue.length - 1 : queue.length)
        if (waiting.length === 0) continue
        const parked = waiting.map((record) => this.#parkFrom(queue, { lane, record }))
        if (!parked.includes(true)) this.#fruitless = fruitlessRecords
      }
    }
  }

  #parkFrom(queue: RecordQueue, { lane, record }: { readonly lane: Lane; readonly record: Pending }): boolean {
    if (!this.#park(lane, record, 'queued')) return false
    queue.remove(record)
    this.#letGo(lane, record)
    return true
  }

  #putAway(lane: Lane, record: Pending, { from, reason }: { from: From; reason: DropReason }): void {
    if (this.#park(lane, record, from)) return
    // The disk may have failed when the record came, and take it now.
    this.#keep(lane, record)
    if (!this.#park(lane, record, from)) this.#drop(lane, { from, reason, bytes: record.bytes })
  }

  #park(lane: Lane, { place, bytes }: Pending, from: From): boolean {
    if (place === undefined || !this.#plan.store.park(place)) return false
    this.#kept.letGo(lane.index)
    this.#plan.book.park(lane.index, { from, bytes })
    lane.outstanding.park()
    return true
  }

  #drop(lane: Lane, loss: { from: From; reason: DropReason; bytes: number }): void {
    this.#plan.book.drop(lane.index, loss)
    this.#reportLoss(lane, { reason: loss.reason, count: 1 })
  }

  #reportLoss(lane: Lane, loss: { reason: DropReason; count: number }): void {
    lane.losses.add(loss, this.#plan.clock.now())
    this.#plan.observer.dropped(lane.name, loss)
  }
}
