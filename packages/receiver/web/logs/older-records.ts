import { type LogRecord, type RecordPage, timeOf } from '../api/records.js'
import { request } from '../api/requests.js'
import type { RecordFilter } from './record-filter.js'

/** Some records, oldest first, and where the search for older ones goes on: undefined if there are none. */
export interface Found {
  readonly records: readonly LogRecord[]
  readonly before: number | undefined
  /** The receiver's reason why it has found none, where it knows one. */
  readonly hint: string | undefined
  /** The time of the next record to look at, in ms, where the receiver has cut the search before enough were found. */
  readonly cutAt: number | undefined
}

interface Search {
  readonly bucket: string
  readonly filter: Pick<RecordFilter, 'query' | 'matches' | 'problem'>
  /** Stops when this many are found. */
  readonly enough: number
  readonly signal?: AbortSignal | undefined
}

const pageSize = 500
/** With a filter that the receiver does not know, a search may read much and find nothing: it stops after this many pages. */
const maxPages = 20

/** Finds the newest records of a filter, page by page: those with an id smaller than `before`, if there is one. */
export async function findOlder({
  before,
  ...search
}: Search & { readonly before?: number | undefined }): Promise<Found> {
  const { filter, enough } = search
  const found: LogRecord[] = []
  let from = before
  let hint: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const answer = await readPage(search, { limit: pageSize, before: from })
    for (const record of answer.list) if (filter.matches(record)) found.push(record)
    hint ??= answer.hint
    from = answer.next ?? (answer.list.length < pageSize ? undefined : answer.list.at(-1)!.id)
    if (from === undefined || found.length >= enough) break
    if (answer.incomplete) {
      const next = await newestBefore(search, from)
      return { records: found.reverse(), before: next && from, hint, cutAt: next && timeOf(next) }
    }
  }
  return { records: found.reverse(), before: from, hint, cutAt: undefined }
}

async function newestBefore({ bucket, signal }: Search, before: number): Promise<LogRecord | undefined> {
  const all = { query: new URLSearchParams(), matches: () => true }
  const { list } = await readPage({ bucket, filter: all, enough: 1, signal }, { limit: 1, before })
  return list[0]
}

/** Finds the records of a filter that come next after an id, oldest first. */
export async function findNewer({
  after,
  ...search
}: Search & { readonly after: number }): Promise<readonly LogRecord[]> {
  const { filter, enough } = search
  const limit = 2 * enough
  const found: LogRecord[] = []
  let from: number | undefined = after
  for (let page = 0; page < maxPages && from !== undefined && found.length < enough; page++) {
    const { list, next }: RecordPage<LogRecord> = await readPage(search, { limit, after: from })
    found.push(...list.toReversed().filter((record) => filter.matches(record)))
    from = next ?? (list.length < limit ? undefined : list[0]!.id)
  }
  return found.slice(0, enough)
}

async function readPage(
  { bucket, filter, signal }: Search,
  numbers: Readonly<Record<string, number | undefined>>,
): Promise<RecordPage<LogRecord>> {
  if (filter.problem !== undefined) return { total: 0, list: [] }
  const query = new URLSearchParams(filter.query)
  for (const [name, number] of Object.entries(numbers)) if (number !== undefined) query.set(name, String(number))
  return await request(`/api/logs/${encodeURIComponent(bucket)}?${query}`, { signal })
}
