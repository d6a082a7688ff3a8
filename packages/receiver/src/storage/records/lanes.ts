import type { WrittenRecord } from './written-records.js'

/** The records by the name of their lane. */
export function byLane(records: readonly WrittenRecord[]): Map<string, WrittenRecord[]> {
  const lanes = new Map<string, WrittenRecord[]>()
  for (const record of records) {
    const name = `${record.kind} ${record.bucket}`
    const others = lanes.get(name)
    if (others === undefined) lanes.set(name, [record])
    else others.push(record)
  }
  return lanes
}

/** The idempotency keys of the records that have one. */
export function keysOf(records: readonly WrittenRecord[]): string[] {
  return records.flatMap(({ idempotencyKey }) => (idempotencyKey === '' ? [] : [idempotencyKey]))
}

/** The records without a key, and the first record of each new key. */
export function firstAttempts(records: readonly WrittenRecord[], newKeys: Set<string>): WrittenRecord[] {
  return records.filter(({ idempotencyKey }) => idempotencyKey === '' || newKeys.delete(idempotencyKey))
}
