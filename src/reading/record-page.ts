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
  { asked, kind }: { readonly asked: Asked; readonly kind: Kind },
): RecordPage<Stored<Kind>> {
  const { total, totalIsAtLeast, incomplete, list, next, hint } = answer
  if (!Array.isArray(list) || !list.every((each) => isStored(each, kind))) {
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

/** True for a record of this kind with all that every such record has. */
export function isStored(value: unknown, kind: RecordKind): boolean {
  const { id, timeStamp, appName, level, message, eventId } = objectOf(value) ?? {}
  if (!Number.isSafeInteger(id) || typeof timeStamp !== 'number' || typeof appName !== 'string') return false
  return kind === 'values' ? typeof eventId === 'number' : typeof level === 'string' && typeof message === 'string'
}
