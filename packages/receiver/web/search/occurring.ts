import { signal } from '@preact/signals'
import type { LogRecord } from '../api/records.js'
import { type Facets, noFacets, readFacets } from '../logs/facets.js'
import { findOlder } from '../logs/older-records.js'

/** Fewer records than this have too few words and fields. */
const few = 200
const enough = 500
/** Counts are asked for again when they are older. */
const freshMs = 30_000

/** What occurs in a bucket. */
export interface Occurring {
  readonly facets: Facets
  /** Some of the newest records. */
  readonly records: readonly LogRecord[]
}

interface Learned extends Occurring {
  readonly bucket: string
  readonly at: number
}

const learned = signal<Learned>({ bucket: '', at: 0, facets: noFacets, records: [] })

/** Asks for what occurs in a bucket; for its newest records once, where the page has few. */
export async function learn(bucket: string, loaded: number): Promise<void> {
  const known = learned.value
  const isKnown = known.bucket === bucket
  if (isKnown && Date.now() - known.at < freshMs) return
  learned.value = { bucket, at: Date.now(), facets: noFacets, records: [], ...(isKnown ? known : {}) }
  try {
    const all = { query: new URLSearchParams(), matches: () => true }
    const records = isKnown && known.records.length > 0 ? known.records : undefined
    const [facets, found] = await Promise.all([
      readFacets(new URLSearchParams({ bucket })),
      records === undefined && loaded < few ? findOlder({ bucket, filter: all, enough }) : undefined,
    ])
    if (learned.value.bucket === bucket)
      learned.value = { bucket, at: Date.now(), facets, records: records ?? found?.records ?? [] }
  } catch {
    // The box is of use without them.
  }
}

/** What is known of a bucket, and the records that are loaded. */
export function occurringWith(bucket: string, rows: readonly LogRecord[]): Occurring {
  const { facets, records, bucket: known } = learned.value
  if (known !== bucket) return { facets: noFacets, records: rows }
  if (records.length === 0) return { facets, records: rows }
  const ids = new Set(records.map(({ id }) => id))
  return { facets, records: [...records, ...rows.filter(({ id }) => !ids.has(id))] }
}
