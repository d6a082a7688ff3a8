import type { StoredRecord } from '../record-storage.js'

/** A record as a table has it. */
export interface StoredRow {
  readonly id: number
  readonly receivedMs: number
  /** JSON. */
  readonly record: string
}

/** The record as it is read back: its own fields and the receiver's two. */
export function storedRecord({ id, receivedMs, record }: StoredRow): StoredRecord {
  return { id, receivedAt: new Date(receivedMs).toISOString(), ...(JSON.parse(record) as object) }
}

/** The record as JSON with the receiver's two fields in front. A stored record is never empty. */
export function storedJson({ id, receivedMs, record }: StoredRow): string {
  return `{"id":${id},"receivedAt":"${new Date(receivedMs).toISOString()}",${record.slice(1)}`
}
