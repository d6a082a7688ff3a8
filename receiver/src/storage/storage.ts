/** The two kinds of record that a bucket holds. */
export type RecordKind = 'logs' | 'values'

/** A record as it arrived. */
export interface NewRecord {
  readonly kind: RecordKind
  readonly bucket: string
  /** The same for every attempt of the sender; a second record with the key of a first is taken and not stored again. */
  readonly idempotencyKey: string | undefined
  readonly record: { readonly level?: string; readonly eventId?: number } & Readonly<Record<string, unknown>>
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
  /** Only records with a smaller id, to read on from the last one of a page. */
  readonly before?: number | undefined
}

/** Where the receiver keeps what it takes. */
export interface Storage {
  /** Resolves when the record is on disk. */
  append(record: NewRecord): Promise<void>
  /** Newest first; `total` counts all that match, whatever the page. */
  read(query: RecordQuery): { readonly total: number; readonly list: readonly StoredRecord[] }
  hasProject(id: string): boolean
  addProject(id: string): void
  /** Hashes of all keys. */
  keyHashes(): readonly string[]
  addKey(hash: string): void
  close(): Promise<void>
}
