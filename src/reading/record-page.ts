import { type Asked, unreadable } from '../content/read-answer.js'
import { objectOf } from '../http/answer-body.js'
import type { RecordKind } from '../records/wire.js'
import type { Arrival, RecordPage, Stored } from './stored-record.js'

/**
 * The page in an answer.
 *
 * @throws {ApiError} where the answer has no records
 */
export function pageIn<Kind extends RecordKind>(
  answer: Readonly<Record<string, unknown>>,
  asked: Asked,
): RecordPage<Stored<Kind>> {
  const { total, totalIsAtLeast, incomplete, list, next, hint } = answer
  if (!Array.isArray(list) || !list.every(isStored)) {
    throw unreadable({ status: 200, correlationId: undefined }, { asked, expected: 'a list of records' })
  }
  return {
    total: typeof total === 'number' ? total : list.length,
    list,
    ...(totalIsAtLeast === true ? { totalIsAtLeast } : {}),
    ...(incomplete === true ? { incomplete } : {}),
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
