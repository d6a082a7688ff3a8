import type { RecordFilter, RecordQuery, RecordReading, StoredRecord } from '../../dist/storage/record-storage.js'

/** Reads all records of a filter page by page, the newest first. */
export async function readAll(
  reading: RecordReading,
  { limit = 100, ...filter }: RecordFilter & { readonly limit?: number },
): Promise<StoredRecord[]> {
  const all: StoredRecord[] = []
  for (let before: RecordQuery['before']; ; ) {
    const { list, next } = await reading.read({ ...filter, limit, before })
    all.push(...list)
    if (list.length < limit && next === undefined) return all
    before = all.at(-1)!.id
  }
}

/** A record without the fields that the store has added. */
export function asSent({ id, receivedAt, ...record }: StoredRecord): Record<string, unknown> {
  return record
}
