import type { Severity } from '../records/level.js'
import type { BufferBounds, Candidate } from './buffer-bounds.js'
import type { BodyRoom } from './fresh-log.js'
import type { Lane } from './lane.js'
import type { LedgerBook, Origin } from './ledger-book.js'
import { type HeldRecord, pendingRecord } from './record-queue.js'
import { noStore, type Storable, type Store } from './store.js'

/** A record as it is accepted. */
export interface Acceptable {
  readonly body: string
  readonly severity: Severity
  /** A key of its own. @default made from its place in the order of acceptance */
  readonly idempotencyKey?: string | undefined
  /** It came from another thread, which has counted it already. @default false */
  readonly handedOver?: boolean
  /** It was counted before, and kept in case an error came. @default false */
  readonly kept?: boolean
}

interface RecordIntakePlan {
  readonly book: LedgerBook
  readonly bounds: BufferBounds
  readonly store: Store
  /** Gives a record to the store. */
  readonly keep: (lane: Lane, record: HeldRecord) => void
  /** Parks records of lanes that may not send. */
  readonly parkWaiting: () => void
  readonly shed: (candidate: Candidate) => void
  /** Leaves a record for which there is no room to the store, else drops it. */
  readonly putAway: (lane: Lane, record: HeldRecord) => void
  /** Drops a record that came after the end. */
  readonly refuse: (lane: Lane, from: Newcomer) => void
}

/** Where a new record comes from. `unneeded`: it was suppressed, and kept in case an error came. */
export type Newcomer = Origin | 'unneeded'

export function originOf(handedOver: boolean): Origin {
  return handedOver ? 'taken' : 'none'
}

/** Takes new records: counts them, makes room for them, and adds them to their lane. */
export class RecordIntake {
  readonly #plan: RecordIntakePlan
  #sequence = 0
  #closed = false
  /**
   * While a record is taken in a full memory or with a store: records that a listener for losses or trouble logs meanwhile. They come after
   * it.
   */
  #late: (() => unknown)[] | undefined

  constructor(plan: RecordIntakePlan) {
    this.#plan = plan
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Accept no more. */
  close(): void {
    this.#closed = true
  }

  /** Place of the next record in the order of acceptance. */
  nextSequence(): number {
    return this.#sequence++
  }

  /** Count a record as accepted, and take it. False when it is given up, or waits in the store. */
  accept(lane: Lane, record: Acceptable): boolean {
    if (this.#late !== undefined) {
      this.#late.push(() => this.accept(lane, record) && lane.due())
      return false
    }
    const { body, severity, handedOver = false, kept = false, idempotencyKey } = record
    const bytes = Buffer.byteLength(body)
    if (idempotencyKey !== undefined) return this.#acceptKeyed(lane, { ...record, idempotencyKey, bytes })
    if (!this.#closed) {
      const { memory, at } = lane.ready.room(bytes)
      // The characters are ASCII where there are as many as bytes.
      if (bytes === body.length) memory.write(body, at, 'latin1')
      else memory.write(body, at)
    }
    return this.acceptWritten(lane, bytes, severity, kept ? 'unneeded' : originOf(handedOver))
  }

  /** Room for a body of at most this many bytes, which is accepted next. */
  roomFor(lane: Lane, bytes: number): BodyRoom {
    return lane.ready.room(bytes)
  }

  /** {@link accept} a record whose body was written into the room of its lane. It takes no object: every record comes by here. */
  acceptWritten(lane: Lane, bytes: number, severity: Severity, from: Newcomer): boolean {
    const { bounds, store } = this.#plan
    const sequence = this.nextSequence()
    if (!this.#admits(lane, bytes, from)) return false
    const generation = lane.outstanding.newest
    lane.ready.fresh.stage(bytes, severity, sequence, generation)
    if (store !== noStore || !bounds.fits(bytes)) return this.#takeStaged(lane)
    this.#commit(lane, bytes, generation)
    return true
  }

  /** Accept a record with a key of its own: an object, like the records that come back from an attempt. */
  #acceptKeyed(lane: Lane, record: Acceptable & Storable): boolean {
    const { bytes, handedOver = false, idempotencyKey } = record
    const sequence = this.nextSequence()
    if (!this.#admits(lane, bytes, originOf(handedOver))) return false
    const heldBytes = bytes + idempotencyKey.length
    const pending = pendingRecord(record, { sequence, generation: lane.outstanding.newest, heldBytes })
    return this.#take(lane, pending, () => {
      lane.outstanding.took(pending.generation)
      this.#plan.bounds.take(heldBytes)
      lane.ready.putBack(pending)
    })
  }

  /** Count a record as queued, or as dropped where it comes after the end. */
  #admits(lane: Lane, bytes: number, from: Newcomer): boolean {
    if (this.#closed) this.#plan.refuse(lane, from)
    else this.#plan.book.move(lane.index, from, 'queued', 1, bytes)
    return !this.#closed
  }

  /** Take the staged record, with a store or in a full memory. */
  #takeStaged(lane: Lane): boolean {
    const { staged } = lane.ready.fresh
    return this.#take(lane, staged, () => this.#commit(lane, staged.bytes, staged.generation))
  }

  /** @param add puts the record into its lane, in which there is room for it now */
  #take(lane: Lane, record: HeldRecord, add: () => void): boolean {
    const { bounds, store, keep, parkWaiting, shed, putAway } = this.#plan
    const late: (() => unknown)[] = []
    this.#late = late
    try {
      if (store !== noStore) keep(lane, record)
      if (record.place !== undefined && !bounds.fits(record.heldBytes)) parkWaiting()
      const fits = bounds.makeRoom({ severity: record.severity, bytes: record.heldBytes }, shed)
      if (fits) add()
      else putAway(lane, record)
      return fits
    } finally {
      this.#late = undefined
      for (const accept of late) accept()
    }
  }

  #commit(lane: Lane, bytes: number, generation: number): void {
    lane.outstanding.took(generation)
    this.#plan.bounds.take(bytes)
    lane.ready.fresh.commit()
  }
}
