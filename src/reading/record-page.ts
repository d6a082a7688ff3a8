import { type Asked, unreadable } from '../content/read-answer.js'
import { objectOf } from '../http/answer-body.js'
import type { LogRecord, RecordKind, ValueRecord } from '../records/wire.js'

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
  /** True where counting stopped at `total`: there are more. */
  readonly totalIsAtLeast?: true
  /** The records of this page. */
  readonly list: readonly Stored[]
  /** The `before` of the next page, where the page ended at a limit of bytes. */
  readonly next?: number
  /** A value of the query that no record has, with those that occur. */
  readonly hint?: string
}

/**
 * The page in an answer.
 *
 * @throws {ApiError} where the answer has no records
 */
export function pageIn<Kind extends RecordKind>(
  answer: Readonly<Record<string, unknown>>,
  asked: Asked,
): RecordPage<Stored<Kind>> {
  const { total, totalIsAtLeast, list, next, hint } = answer
  if (!Array.isArray(list) || !list.every(isStored)) {
    throw unreadable({ status: 200, correlationId: undefined }, { asked, expected: 'a list of records' })
  }
  return {
    total: typeof total === 'number' ? total : list.length,
    list,
    ...(totalIsAtLeast === true ? { totalIsAtLeast } : {}),
    ...(typeof next === 'number' ? { next } : {}),
    ...(typeof hint === 'string' ? { hint } : {}),
  }
}

/** The `before` of the page that follows one of `limit` records at most; undefined after the last page. */
export function pageAfter({ list, next }: RecordPage<Arrival>, limit: number): number | undefined {
  if (list.length === 0) return undefined
  return next ?? (list.length < limit ? undefined : list.at(-1)?.id)
}

/** True for a record that can be printed and told from others. */
export function isStored(value: unknown): boolean {
  const record = objectOf(value)
  return Number.isSafeInteger(record?.id) && typeof record?.timeStamp === 'number'
}
