import type { Paged } from '../schemas/envelopes.js'

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

export interface RecordStorage {
  /** Resolves when the record is on disk. */
  append(record: NewRecord): Promise<void>
  /** Reads newest first. `total` counts all matches, not only those of the page. */
  read(query: RecordQuery): Promise<RecordPage>
}
