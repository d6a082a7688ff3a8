import type { Clock } from '../runtime/clock.js'
import type { Bounds, Candidate } from './buffer-bounds.js'
import { KeptRecords } from './kept-records.js'
import type { Lane } from './lane.js'
import type { DropReason } from './ledger.js'
import type { LedgerBook } from './ledger-book.js'
import type { Observer } from './observer.js'
import { type Generation, type Pending, pendingRecord, type RecordQueue } from './record-queue.js'
import { noStore, type Restored, type Room, type Store, type StoreOwner } from './store.js'

export interface HeldRecordsPlan {
  readonly lanes: readonly Lane[]
  readonly bounds: Bounds
  readonly store: Store
  readonly book: LedgerBook
  readonly clock: Clock
  readonly tell: (message: (observer: Observer) => void) => void
  /** The place in the order of acceptance of what comes now. */
  readonly nextSequence: () => number
  /** Whether nothing more is taken. */
  readonly closing: () => boolean
  /** A lane has records to send. */
  readonly supplied: (lane: Lane) => void
  /** A drain may have what it waits for. */
  readonly settled: (lane: Lane) => void
}

const noRoom: Room = { records: 0, bytes: 0 }
const fruitlessRecords = 10_000
/** Records that come back from the store in one go, at most. */
const maxRestored = 1000

/**
 * What an engine holds in memory, within bounds. What has to leave goes to the store, and comes back when there is room; without a place
 * there it is given up.
 */
export class HeldRecords implements StoreOwner {
  readonly #plan: HeldRecordsPlan
  /** Records that may come before it is worth while to look again for what could be parked. */
  #fruitless = 0
  /** None without a store. */
  readonly #kept: KeptRecords | undefined

  constructor(plan: HeldRecordsPlan) {
    this.#plan = plan
    const { lanes, book, store } = plan
    if (store !== noStore) this.#kept = new KeptRecords({ lanes: lanes.length, book })
  }

  /** Whether it would take a record that need not come now. */
  get roomy(): boolean {
    return this.#plan.bounds.roomy
  }

  /** Take a record that was accepted; false when there was no room for it. */
  take(lane: Lane, record: Pending): boolean {
    const { bounds, store } = this.#plan
    const { severity, bytes } = record
    this.#keep(lane, record)
    if (record.place !== undefined && !bounds.fits(bytes)) this.#parkWaiting()
    const fits = bounds.makeRoom({ severity, bytes }, (candidate) => this.#shed(candidate))
    if (fits) this.#hold(lane, record)
    else this.#putAway(lane, record, { from: 'queued', reason: store.lossReason })
    return fits
  }

  /** Bring back what had to leave, when there is room again: by severity, then by age. */
  refill(): void {
    const { lanes, bounds, store } = this.#plan
    if (!bounds.low) return
    for (const lane of lanes) {
      const room = bounds.spare
      if (lane.parked === 0 || room.records === 0) continue
      const records = store.unpark(lane.index, { ...room, records: Math.min(maxRestored, room.records) })
      // Before they are counted as parked no longer: a drain waits for them all the while.
      this.#restore(lane, records, lane.oldestGeneration)
      lane.parked -= records.length
    }
  }

  room(laneIndex: number): Room {
    const lane = this.#plan.lanes[laneIndex]!
    if (lane.ready.length > 0 || this.#plan.closing()) return noRoom
    const { spare } = this.#plan.bounds
    if (lane.hold === undefined) return spare
    // The one record that the lane has may be at fault: another one can show it.
    return lane.probes.confirming ? { ...spare, records: Math.min(1, spare.records) } : noRoom
  }

  adopt(laneIndex: number, count: number): void {
    this.#plan.book.adopt(laneIndex, count)
  }

  written(): void {
    this.#kept?.written()
  }

  forgotten(laneIndex: number, count: number): void {
    this.#kept?.letGo(laneIndex, count)
  }

  restore(laneIndex: number, records: readonly Restored[]): void {
    const lane = this.#plan.lanes[laneIndex]!
    // Of the newest generation: no drain waits for what somebody else has left.
    this.#restore(lane, records, lane.generation)
  }

  /** The record is delivered or rejected. */
  release(lane: Lane, record: Pending): void {
    if (record.place !== undefined && this.#plan.store.settle(record.place)) this.#kept?.letGo(lane.index)
    this.#letGo(lane, record)
  }

  /** The process ends before the record could be sent: it stays on disk where it can, else it is given up. */
  leave(lane: Lane, record: Pending, from: 'queued' | 'inFlight'): void {
    this.#putAway(lane, record, { from, reason: 'shutdown' })
    this.#letGo(lane, record)
  }

  /** A record that is not held is given up. */
  drop(lane: Lane, loss: { from: 'queued' | 'inFlight'; reason: DropReason; bytes: number }): void {
    this.#plan.book.drop(lane.index, loss)
    this.#tellOf(lane, { reason: loss.reason, count: 1 })
  }

  lost(laneIndex: number, { count, reason, adopted }: { count: number; reason: DropReason; adopted: boolean }): void {
    const lane = this.#plan.lanes[laneIndex]!
    // At the end it is not for want of room that they are lost.
    const loss = { count, reason: reason === 'queue-full' && this.#plan.closing() ? ('shutdown' as const) : reason }
    this.#plan.book.lose(lane.index, loss)
    if (!adopted) lane.parked -= count
    this.#tellOf(lane, loss)
    this.#plan.settled(lane)
  }

  #restore(lane: Lane, records: readonly Restored[], generation: Generation): void {
    for (const record of records) {
      this.#plan.book.unpark(lane.index, record.bytes)
      this.#hold(lane, pendingRecord(record, { sequence: this.#plan.nextSequence(), generation }))
    }
    if (records.length > 0) this.#kept?.restored(lane.index, records.length)
    if (records.length > 0) this.#plan.supplied(lane)
  }

  #keep(lane: Lane, record: Pending): void {
    record.place = this.#plan.store.keep(lane.index, record)
    if (record.place !== undefined) this.#kept?.took(lane.index)
  }

  #hold(lane: Lane, record: Pending): void {
    record.generation.outstanding++
    this.#plan.bounds.take(record.bytes)
    lane.ready.push(record)
  }

  #shed({ lane, shelf, record }: Candidate): void {
    shelf.remove(record)
    this.#putAway(lane, record, { from: 'queued', reason: this.#plan.store.lossReason })
    this.#letGo(lane, record)
  }

  /** Put into the store what may not be sent, or not any more; what finds no place there stays. */
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

  /** Memory is full: the records of lanes that may not send wait on disk, so that they keep nobody else out. One stays, to probe with. */
  #parkWaiting(): void {
    if (this.#fruitless > 0) {
      this.#fruitless--
      return
    }
    for (const lane of this.#plan.lanes) {
      if (lane.hold === undefined) continue
      const { ready, probes } = lane
      const kept = ready.length > 0 ? ready : probes.tried
      for (const queue of [probes.tried, ready]) {
        const waiting = queue.leastSevere(queue === kept ? queue.length - 1 : queue.length)
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

  #putAway(lane: Lane, record: Pending, { from, reason }: { from: 'queued' | 'inFlight'; reason: DropReason }): void {
    if (this.#park(lane, record, from)) return
    // The disk may have failed when the record came, and take it now.
    this.#keep(lane, record)
    if (!this.#park(lane, record, from)) this.drop(lane, { from, reason, bytes: record.bytes })
  }

  #park(lane: Lane, { place, bytes }: Pending, from: 'queued' | 'inFlight'): boolean {
    if (place === undefined || !this.#plan.store.park(place)) return false
    this.#kept?.letGo(lane.index)
    this.#plan.book.park(lane.index, { from, bytes })
    lane.parked++
    return true
  }

  #letGo(lane: Lane, record: Pending): void {
    this.#plan.bounds.release(record.bytes)
    record.generation.outstanding--
    if (record.generation.outstanding === 0) this.#plan.settled(lane)
  }

  #tellOf(lane: Lane, loss: { reason: DropReason; count: number }): void {
    lane.losses.add(loss, this.#plan.clock.now())
    this.#plan.tell((observer) => observer.dropped(lane.name, loss))
  }
}
