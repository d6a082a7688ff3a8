import type { Severity } from '../records/level.js'
import type { DropReason } from './ledger.js'
import type { Outcome } from './sender.js'

/** A record as a store keeps it. */
export interface Storable {
  readonly body: string
  /** Of the body, in UTF-8. */
  readonly bytes: number
  readonly severity: Severity
  readonly idempotencyKey: string
}

/** Where a store keeps a record; nobody else looks inside. */
export type Place = object

/** A record that comes back from a store. */
export interface Restored extends Storable {
  readonly place: Place
}

/** What there is room for; one record may be larger. */
export interface Room {
  readonly records: number
  readonly bytes: number
}

/**
 * The port to what keeps records beyond memory: a spool. A record is given to it when it is accepted, and stays there until it is
 * settled; while memory has no room for it, it is in the store alone, *parked*. Lanes are named by their index. Implementations never
 * throw.
 */
export interface Store {
  /** Why a record is lost that must leave memory and has no place here. */
  readonly lossReason: DropReason
  /** Keep a record; undefined when that is impossible. */
  keep(lane: number, record: Storable): Place | undefined
  /** See whether what was kept is still there. */
  look(): void
  /** The record leaves memory and is here alone; false when it is not here any more. */
  park(place: Place): boolean
  /**
   * Give back parked records, the most severe first and the oldest within them, as many as there is room for. None come back while the
   * store does not answer: they stay parked, and are asked for again.
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
  /** Nothing more will come. Idempotent. */
  close(): void
}

/** No store at all. */
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

/** What a store says to the delivery that it works for. */
export interface StoreOwner {
  /** What there is room for of the records that others have left: nothing while a new one waits. */
  room(lane: number): Room
  /** So many records that others have left are here; they are accepted, and parked. */
  adopt(lane: number, count: number): void
  /** Adopted records whose turn has come. */
  restore(lane: number, records: readonly Restored[]): void
  /** All that was given to the store by now is on disk. */
  written(): void
  /** Records in memory are not in the store any more: it gave them up, or could not write them. */
  forgotten(lane: number, count: number): void
  /** Parked or adopted records are here no longer. */
  lost(lane: number, loss: { readonly count: number; readonly reason: DropReason; readonly adopted: boolean }): void
}
