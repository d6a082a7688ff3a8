import type { Severity } from '../records/level.js'
import type { DropReason } from './ledger.js'
import type { Outcome } from './sender.js'

/** A record as a store keeps it. */
export interface Storable {
  readonly body: string
  /** Length of the body in UTF-8. */
  readonly bytes: number
  readonly severity: Severity
  readonly idempotencyKey: string
}

/** The place of a record in a store. Only the store looks inside. */
export type Place = object

/** A record that comes back from a store. */
export interface Restored extends Storable {
  readonly place: Place
}

/** Room in memory. A single record may be larger. */
export interface Room {
  readonly records: number
  readonly bytes: number
}

/**
 * The port to a spool, which keeps records beyond memory. A record is given to it when it is accepted, and stays there until it is
 * settled. While memory has no room for it, it is in the store alone: it is *parked*. Lanes are named by their index. Implementations
 * never throw.
 */
export interface Store {
  /** The reason why a record is dropped that must leave memory and has no place here. */
  readonly lossReason: DropReason
  /** Keep a copy of a record, which may not be used after the call. Undefined when that is impossible. */
  keep(lane: number, record: Storable): Place | undefined
  /** Check that the records are still there, and try the disk once more. */
  look(): void
  /** The record leaves memory and is here alone. False when it is not here any more. */
  park(place: Place): boolean
  /**
   * Give back parked records, as many as there is room for: the most severe first, and the oldest first within a severity. None come back
   * while the disk does not answer. They stay parked, and delivery asks again.
   */
  unpark(lane: number, room: Room): readonly Restored[]
  /** The record was delivered or rejected: it need not be kept. False when it was not here any more. */
  settle(place: Place): boolean
  /** The service refused the record: it goes to the dead letters. Its place, if it has one, is settled next. */
  reject(
    lane: number,
    record: Storable & { readonly place: Place | undefined },
    refusal: Outcome & { type: 'rejected' },
  ): void
  /** Nothing comes after it. Idempotent. */
  close(): void
}

export const noStore: Store = {
  lossReason: 'queue-full',
  keep: () => undefined,
  look() {},
  park: () => false,
  unpark: () => [],
  settle: () => false,
  reject() {},
  close() {},
}

/** The port through which a store calls the delivery that it works for. */
export interface StoreOwner {
  /** Room for records that another process has left: none while a new one waits. */
  room(lane: number): Room
  /** Records that another process has left are here: they are accepted, and parked. */
  adopt(lane: number, count: number): void
  /** Adopted records come into memory. */
  restore(lane: number, records: readonly Restored[]): void
  /** All records that were given to the store by now are on disk. */
  written(): void
  /** Records in memory are not in the store any more: it gave them up, or could not write them. */
  forgotten(lane: number, count: number): void
  /** Parked or adopted records are not in the store any more. */
  lost(lane: number, loss: { readonly count: number; readonly reason: DropReason; readonly adopted: boolean }): void
}
