import type { LogRecord, RecordPage } from '../api/records.js'
import { request } from '../api/requests.js'
import type { RecordFilter } from './record-filter.js'

/** Some records, oldest first, and where the search for older ones goes on: undefined if there are none. */
export interface Found {
  readonly records: readonly LogRecord[]
  readonly before: number | undefined
  /** The receiver's reason why it has found none, where it knows one. */
  readonly hint: string | undefined
}

interface Search {
  readonly bucket: string
  readonly filter: Pick<RecordFilter, 'query' | 'matches'>
  /** Only records with a smaller id; undefined begins with the newest. */
  readonly before?: number | undefined
  /** Stops when this many are found. */
  readonly enough: number
  readonly signal?: AbortSignal | undefined
}

const pageSize = 500
/** With a filter that the receiver does not know, a search may read much and find nothing: it stops after this many pages. */
const maxPages = 20

/** Finds the newest records of a filter, page by page. */
export async function findOlder({ bucket, filter, before, enough, signal }: Search): Promise<Found> {
  const found: LogRecord[] = []
  let from = before
  let hint: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const query = new URLSearchParams(filter.query)
    query.set('limit', String(pageSize))
    if (from !== undefined) query.set('before', String(from))
    const path = `/api/logs/${encodeURIComponent(bucket)}?${query}`
    const answer = await request<RecordPage<LogRecord>>(path, { signal })
    for (const record of answer.list) if (filter.matches(record)) found.push(record)
    hint ??= answer.hint
    from = answer.next ?? (answer.list.length < pageSize ? undefined : answer.list.at(-1)!.id)
    if (from === undefined || found.length >= enough) break
  }
  return { records: found.reverse(), before: from, hint }
}
