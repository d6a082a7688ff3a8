import { signal } from '@preact/signals'
import type { Numbers } from '../api/counts.js'
import type { LogRecord } from '../api/records.js'
import { isAborted, request } from '../api/requests.js'
import { partsOf, valueText } from '../text/message-parts.js'
import { contextPrefix } from './record-filter.js'

/** Counts of the newest matching records, by field. */
export interface Facets {
  readonly levels: Numbers
  readonly apps: Numbers
  readonly machines: Numbers
  readonly envs: Numbers
  readonly versions: Numbers
  readonly eventIds: Numbers
}

const none: Facets = { levels: {}, apps: {}, machines: {}, envs: {}, versions: {}, eventIds: {} }
export const facets = signal<Facets>(none)
let abort = new AbortController()

/** Asks for the counts of a query. The last question wins. */
export async function loadFacets(bucket: string, query: URLSearchParams): Promise<void> {
  abort.abort()
  abort = new AbortController()
  const words = new URLSearchParams(query)
  words.set('bucket', bucket)
  try {
    facets.value = { ...none, ...(await request<Facets>(`/api/facets/logs?${words}`, { signal: abort.signal })) }
  } catch (error) {
    // The page is of use without counts.
    if (!isAborted(error)) facets.value = none
  }
}

/** Fields of the context are counted in so many of the newest records. */
export const maxContextRecords = 1000
const maxValues = 8
const maxFields = 12

/** Fields of the context that occur in the newest records, each with its most frequent values. Fields of few values come first. */
export function contextFacets(rows: readonly LogRecord[]): [field: string, counts: [value: string, count: number][]][] {
  const fields = new Map<string, Map<string, number>>()
  for (const record of rows.slice(-maxContextRecords)) {
    for (const [name, value] of Object.entries(partsOf(record).context ?? {})) {
      if (typeof value === 'object') continue
      const counts = fields.get(name) ?? new Map<string, number>()
      const text = valueText(value)
      counts.set(text, (counts.get(text) ?? 0) + 1)
      fields.set(name, counts)
    }
  }
  return [...fields]
    .sort(([, a], [, b]) => a.size - b.size)
    .slice(0, maxFields)
    .map(([name, counts]) => [contextPrefix + name, [...counts].sort(([, a], [, b]) => b - a).slice(0, maxValues)])
}
