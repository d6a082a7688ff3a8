import type { Severity } from '../records/level.js'
import type { BufferBounds, Candidate } from './buffer-bounds.js'
import type { BodyRoom } from './fresh-log.js'
import type { Lane } from './lane.js'
import type { LedgerBook } from './ledger-book.js'
import type { HeldRecord } from './record-queue.js'
import { noStore, type Store } from './store.js'

/** A record as it is accepted. */
export interface Acceptable {
  readonly body: string
  readonly severity: Severity
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
  readonly refuse: (lane: Lane, bytes: number) => void
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
    const { body, severity, handedOver = false, kept = false } = record
    const bytes = Buffer.byteLength(body)
    if (!this.#closed) {
      const { memory, at } = lane.ready.room(bytes)
      // The characters are ASCII where there are as many as bytes.
      if (bytes === body.length) memory.write(body, at, 'latin1')
      else memory.write(body, at)
    }
    return this.acceptWritten(lane, bytes, severity, handedOver, kept)
  }

  /** Room for a body of at most this many bytes, which is accepted next. */
  roomFor(lane: Lane, bytes: number): BodyRoom {
    return lane.ready.room(bytes)
  }

  /** {@link accept} a record whose body was written into the room of its lane. It takes no object: every record comes by here. */
  acceptWritten(lane: Lane, bytes: number, severity: Severity, handedOver: boolean, kept = false): boolean {
    const { book, bounds, store, refuse } = this.#plan
    const sequence = this.nextSequence()
    if (kept) book.needed(lane.index, bytes)
    else book.accept(lane.index, { bytes, handedOver })
    if (this.#closed) {
      refuse(lane, bytes)
      return false
    }
    const generation = lane.outstanding.newest
    lane.ready.fresh.stage(bytes, severity, sequence, generation)
    if (store !== noStore || !bounds.fits(bytes)) return this.#takeStaged(lane)
    this.#commit(lane, bytes, generation)
    return true
  }

  /** Take the staged record, with a store or in a full memory. */
  #takeStaged(lane: Lane): boolean {
    const { bounds, store, keep, parkWaiting, shed, putAway } = this.#plan
    const { staged } = lane.ready.fresh
    const late: (() => unknown)[] = []
    this.#late = late
    try {
      if (store !== noStore) keep(lane, staged)
      if (staged.place !== undefined && !bounds.fits(staged.bytes)) parkWaiting()
      const fits = bounds.makeRoom(staged, shed)
      if (fits) this.#commit(lane, staged.bytes, staged.generation)
      else putAway(lane, staged)
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
