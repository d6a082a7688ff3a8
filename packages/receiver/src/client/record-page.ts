import { type Asked, unreadable } from '../../../../src/content/read-answer.js'
import { objectOf } from '../../../../src/http/answer-body.js'
import type { Arrival, RecordKind, RecordPage, Stored } from './stored-record.js'

/**
 * The page in an answer.
 *
 * @throws {ApiError} where the answer has no records
 */
export function pageIn<Kind extends RecordKind>(
  answer: Readonly<Record<string, unknown>>,
  { asked, kind }: { readonly asked: Asked; readonly kind: Kind },
): RecordPage<Stored<Kind>> {
  const { total, totalIsAtLeast, list, next, incomplete, hint } = answer
  if (!Array.isArray(list) || !list.every((each) => isStored(each, kind))) {
    throw unreadable({ status: 200, correlationId: undefined }, { asked, expected: 'a list of records' })
  }
  return {
    total: typeof total === 'number' ? total : list.length,
    list,
    ...(totalIsAtLeast === true ? { totalIsAtLeast } : {}),
    ...(typeof next === 'number' ? { next } : {}),
    ...(incomplete === true ? { incomplete } : {}),
    ...(typeof hint === 'string' ? { hint } : {}),
  }
}

/** How a page was asked for. */
export interface PageQuestion {
  readonly asked: Asked
  /** Most records of it. */
  readonly limit: number
  /** Undefined for the newest records. */
  readonly before: number | undefined
}

/**
 * The `before` of the page that follows; undefined after the last page. It falls from page to page, else a service that answers the same
 * again and again would be read for ever.
 *
 * @throws {ApiError} where it does not fall
 */
export function pageAfter(
  { list, next, incomplete }: RecordPage<Arrival>,
  { asked, limit, before }: PageQuestion,
): number | undefined {
  // A search that was cut may have found nothing yet.
  if (list.length === 0 && incomplete !== true) return undefined
  const after = next ?? (list.length < limit ? undefined : list.at(-1)?.id)
  if (
    after === undefined ||
    (Number.isSafeInteger(after) && after >= 0 && after < (before ?? Number.POSITIVE_INFINITY))
  )
    return after
  const expected = `a next page of older records than ${before ?? 'the newest'}, got ${after}`
  throw unreadable({ status: 200, correlationId: undefined }, { asked, expected })
}

/** True for a record of this kind with all that every such record has. */
export function isStored(value: unknown, kind: RecordKind): boolean {
  const { id, timeStamp, appName, level, message, eventId } = objectOf(value) ?? {}
  if (!Number.isSafeInteger(id) || typeof timeStamp !== 'number' || typeof appName !== 'string') return false
  return kind === 'values' ? typeof eventId === 'number' : typeof level === 'string' && typeof message === 'string'
}

/** A page that was read, and the facts that errors about it need. */
interface ReadPage<Record> {
  readonly page: RecordPage<Record>
  readonly asked: Asked
}

/** Most records in one answer. */
const pageRecords = 1000

/**
 * The records of one page after another, newest first, at most `most` in all.
 *
 * @throws as `read` does, and {@link pageAfter}
 */
export async function* pagesOf<Record extends Arrival>(
  read: (bounds: { readonly limit: number; readonly before: number | undefined }) => Promise<ReadPage<Record>>,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly Record[], void> {
  let before: number | undefined
  for (let left = most; left > 0; ) {
    const limit = Math.min(left, pageRecords)
    const { page, asked } = await read({ limit, before })
    yield page.list
    left -= page.list.length
    before = pageAfter(page, { asked, limit, before })
    if (before === undefined) return
  }
}
