import type { NewRecord, RecordFields, RecordKind } from '../record-storage.js'

/** A record as it is written: its lookup fields, and the whole record as JSON. */
export interface WrittenRecord {
  readonly kind: RecordKind
  readonly bucket: string
  /** Empty for none. */
  readonly idempotencyKey: string
  readonly timeStamp: number
  /** Its `Labels` as JSON. */
  readonly labels: string
  readonly json: string
}

/** The level of a log or the event of a value, and the named fields in their order. A value has no second event. */
export type Labels = readonly [
  value: string | number | null,
  appName: string | null,
  env: string | null,
  machineName: string | null,
  appVersion: string | null,
  eventId: number | null,
]

export function writtenRecord({ kind, bucket, idempotencyKey = '', record }: NewRecord): WrittenRecord {
  const { timeStamp } = record
  return { kind, bucket, idempotencyKey, timeStamp, labels: labelsOf(record), json: JSON.stringify(record) }
}

/** The `Labels` of a record, as JSON. */
export function labelsOf({ level, eventId, appName, env, machineName, appVersion }: RecordFields): string {
  const other = level === undefined ? null : (eventId ?? null)
  const names = [appName, env ?? null, machineName ?? null, appVersion ?? null] as const
  return JSON.stringify([level ?? eventId ?? null, ...names, other] satisfies Labels)
}

/** Records as one text with a line per value. A text crosses to another thread for a fraction of the cost of objects. */
export function toLines(records: readonly NewRecord[]): string {
  let lines = ''
  for (const record of records) {
    const { kind, bucket, idempotencyKey, timeStamp, labels, json } = writtenRecord(record)
    // No value contains a line end: buckets and headers cannot, and JSON escapes it.
    lines += `${kind}\n${bucket}\n${idempotencyKey}\n${timeStamp}\n${labels}\n${json}\n`
  }
  return lines
}

export function fromLines(text: string): WrittenRecord[] {
  const lines = text.split('\n')
  const records: WrittenRecord[] = []
  for (let at = 0; at + 6 <= lines.length; at += 6) {
    const [kind, bucket, idempotencyKey, timeStamp, labels, json] = lines.slice(at, at + 6) as [RecordKind, ...string[]]
    records.push({
      kind,
      bucket: bucket!,
      idempotencyKey: idempotencyKey!,
      timeStamp: Number(timeStamp),
      labels: labels!,
      json: json!,
    })
  }
  return records
}
