import type { Paged } from '../schemas/envelopes.js'
import type { Facets } from '../schemas/facets.js'
import type { CommitListener } from './commit-listeners.js'

export type { Facets }

/** The two kinds of record that a bucket holds. */
export type RecordKind = 'logs' | 'values'

/** A record as it arrived. */
export interface NewRecord {
  readonly kind: RecordKind
  readonly bucket: string
  /** The sender repeats it in each attempt. A record whose key is known is accepted and not stored again. */
  readonly idempotencyKey: string | undefined
  readonly record: RecordFields
}

export interface RecordFields extends Readonly<Record<string, unknown>> {
  readonly timeStamp: number
  readonly appName: string
  readonly level?: string
  readonly eventId?: number
  readonly env?: string
  readonly message?: string
}

/** A record as it is read back: its own fields and the receiver's two. */
export interface StoredRecord extends Readonly<Record<string, unknown>> {
  readonly id: number
  /** ISO 8601 UTC. */
  readonly receivedAt: string
}

export interface RecordQuery {
  readonly kind: RecordKind
  readonly bucket: string
  readonly limit: number
  readonly level?: string | undefined
  readonly eventId?: number | undefined
  readonly appName?: string | undefined
  readonly env?: string | undefined
  /** Only records whose message has all these words. */
  readonly text?: string | undefined
  /** Only records with `since` <= time < `until`, in ms since 1970, whatever unit the record has. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Only records with a smaller id: the next page. */
  readonly before?: number | undefined
}

export interface RecordPage extends Paged<StoredRecord> {
  /** Counting stopped at `total`; there are more records. Only for queries with words or times. */
  readonly totalIsAtLeast?: true
}

/** The newest id of each kind that a reader knows, in one store. */
export interface Position extends Readonly<Record<RecordKind, number>> {
  /** Identity of the store: the ids of another store mean other records. */
  readonly store: string
}

export interface ArrivalsQuery {
  readonly kind: RecordKind
  readonly bucket: string
  /** Only records with a larger id. */
  readonly after: number
  readonly limit: number
}

/** Records in the order in which they arrived. */
export interface Arrivals {
  readonly count: number
  /** A JSON array of the records as they are read back. */
  readonly json: string
  /** The largest id among them; the `after` of the query if there are none. */
  readonly last: number
  readonly hasMore: boolean
}

export interface MissedQuery {
  readonly bucket: string
  readonly since: Position
}

export interface Missed {
  readonly counts: Readonly<Record<RecordKind, number>>
  /** The newest position, up to which `counts` counts. */
  readonly position: Position
}

/** Reads records. */
export interface RecordReading {
  /** Reads newest first. `total` counts all matches, not only those of the page. */
  read(query: RecordQuery): Promise<RecordPage>
  /** Counts the values in the newest matching records: at most `limit` of them, and at most 16 MiB. */
  facets(query: RecordQuery): Promise<Facets>
  /** The newest position of a bucket. */
  position(query: { readonly bucket: string }): Promise<Position>
  /** Reads oldest first: at most 1 MiB, but at least one record if there is any. */
  arrivals(query: ArrivalsQuery): Promise<Arrivals>
  /** Counts the records after a position. */
  missed(query: MissedQuery): Promise<Missed>
}

export interface RecordStorage extends RecordReading {
  /** Resolves when the record is on disk. */
  append(record: NewRecord): Promise<void>
  /** Counts the records since the start whose key was known, so that they were not stored again. */
  repeated(bucket: string): Readonly<Record<RecordKind, number>>
  /** Calls the listener after each commit of records, until the returned function is called. */
  onCommit(listener: CommitListener): () => void
}
