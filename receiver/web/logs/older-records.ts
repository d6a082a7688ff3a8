import type { LogRecord, RecordPage } from '../api/records.js'
import { request } from '../api/requests.js'
import type { RecordFilter } from './record-filter.js'

/** Some records, oldest first, and where the search for older ones goes on: undefined if there are none. */
export interface Found {
  readonly records: readonly LogRecord[]
  readonly before: number | undefined
}

interface Search {
  readonly bucket: string
  readonly filter: RecordFilter
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
  for (let page = 0; page < maxPages; page++) {
    const { records, next } = await readPage({ bucket, filter, before: from, enough, signal })
    for (const record of records) if (filter.matches(record)) found.push(record)
    from = next
    if (from === undefined || found.length >= enough) break
  }
  return { records: found.reverse(), before: from }
}

/** The next records of all queries, newest first. Each query's answer ends somewhere else: the page ends where the first of them ends. */
async function readPage({ bucket, filter, before, signal }: Search) {
  const answers = await Promise.all(
    filter.queries.map(async (query) => {
      const words = new URLSearchParams(query)
      words.set('limit', String(pageSize))
      if (before !== undefined) words.set('before', String(before))
      const path = `/api/logs/${encodeURIComponent(bucket)}?${words}`
      const { list, next } = await request<RecordPage<LogRecord>>(path, { signal })
      const end = next ?? (list.length < pageSize ? undefined : list.at(-1)!.id)
      return { list, end }
    }),
  )
  const ends = answers.flatMap(({ end }) => (end === undefined ? [] : [end]))
  const next = ends.length === 0 ? undefined : Math.max(...ends)
  const records = answers.flatMap(({ list }) => list.filter(({ id }) => next === undefined || id >= next))
  return { records: records.sort((a, b) => b.id - a.id), next }
}
