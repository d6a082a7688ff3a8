import type { Paged } from '../schemas/envelopes.js'

/** The two kinds of record that a bucket holds. */
export type RecordKind = 'logs' | 'values'

/** A record as it arrived. */
export interface NewRecord {
  readonly kind: RecordKind
  readonly bucket: string
  /** The same for every attempt of the sender; a second record with the key of a first is taken and not stored again. */
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

/** A record as it is read back: its own fields, and ours. */
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
  /** Only records of this time or later, and of an earlier time than `until`; in ms since 1970, whatever unit was sent. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Only records with a smaller id, to read on from the last one of a page. */
  readonly before?: number | undefined
}

export interface RecordPage extends Paged<StoredRecord> {
  /** `total` is where counting stopped: there are more. Only where words or times are looked for. */
  readonly totalIsAtLeast?: true
}

export interface RecordStorage {
  /** Resolves when the record is on disk. */
  append(record: NewRecord): Promise<void>
  /** Newest first; `total` counts all that match, whatever the page. */
  read(query: RecordQuery): Promise<RecordPage>
}
