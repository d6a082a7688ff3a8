import { signal } from '@preact/signals'
import type { Numbers } from '../api/counts.js'
import type { LogRecord } from '../api/records.js'
import { isAborted, request } from '../api/requests.js'
import { contextValues, textOfJson } from '../text/message-parts.js'

/** Counts of the newest matching records, by field. */
export interface Facets {
  readonly levels: Numbers
  readonly apps: Numbers
  readonly machines: Numbers
  readonly envs: Numbers
  readonly versions: Numbers
  readonly eventIds: Numbers
}

export const noFacets: Facets = { levels: {}, apps: {}, machines: {}, envs: {}, versions: {}, eventIds: {} }
export const facets = signal<Facets>(noFacets)
let abort = new AbortController()

/** Asks for the counts of a query. The last question wins. */
export async function loadFacets(bucket: string, query: URLSearchParams): Promise<void> {
  abort.abort()
  abort = new AbortController()
  const words = new URLSearchParams(query)
  words.set('bucket', bucket)
  try {
    facets.value = await readFacets(words, abort.signal)
  } catch (error) {
    // The page is of use without counts.
    if (!isAborted(error)) facets.value = noFacets
  }
}

export async function readFacets(query: URLSearchParams, signal?: AbortSignal): Promise<Facets> {
  return { ...noFacets, ...(await request<Facets>(`/api/facets/logs?${query}`, { signal })) }
}

/** Fields of the context are counted in so many of the newest records. */
export const maxContextRecords = 1000
const maxValues = 8
const maxFields = 12

/** The values of each field of the context in the newest of the records, with their numbers. */
export function contextCounts(rows: readonly LogRecord[]): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const fields = new Map<string, Map<string, number>>()
  for (const record of rows.slice(-maxContextRecords)) {
    for (const { path, json } of contextValues(record)) {
      let counts = fields.get(path)
      if (counts === undefined) {
        counts = new Map()
        fields.set(path, counts)
      }
      const text = textOfJson(json)
      counts.set(text, (counts.get(text) ?? 0) + 1)
    }
  }
  return fields
}

/** Fields of the context that occur in the newest records, each with its most frequent values. Fields of few values come first. */
export function contextFacets(rows: readonly LogRecord[]): [path: string, counts: [value: string, count: number][]][] {
  return [...contextCounts(rows)]
    .sort(([, a], [, b]) => a.size - b.size)
    .slice(0, maxFields)
    .map(([path, counts]) => [path, [...counts].sort(([, a], [, b]) => b - a).slice(0, maxValues)])
}
