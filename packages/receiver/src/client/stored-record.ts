import type { LogRecord, ValueRecord } from 'sluice'

export type RecordKind = 'logs' | 'values'

/** The two fields that the receiver adds to a record. */
export interface Arrival {
  /** Counts up as records arrive. */
  readonly id: number
  /** Time of arrival, ISO 8601 UTC. */
  readonly receivedAt: string
}

/** A log record as the receiver gives it back. */
export interface StoredLog extends LogRecord, Arrival {}

/** A value record as the receiver gives it back. */
export interface StoredValue extends ValueRecord, Arrival {}

export type Stored<Kind extends RecordKind> = Kind extends 'logs' ? StoredLog : StoredValue

/** A page of records, newest first. */
export interface RecordPage<Stored> {
  /** Number of records that match, on all pages. */
  readonly total: number
  /** True where counting stopped at `total`: there may be more. */
  readonly totalIsAtLeast?: true
  /** The records of this page. */
  readonly list: readonly Stored[]
  /** The `before` of the next page, where the page ended at a limit of bytes or of time. */
  readonly next?: number
  /** True where the search took long and was cut: records before `next` were not looked at. */
  readonly incomplete?: true
  /** Where there are none: a field, level or other value of the question that no record has, with those that occur and the nearest. */
  readonly hint?: string
}
