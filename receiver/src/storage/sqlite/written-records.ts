import type { NewRecord, RecordFields, RecordKind } from '../record-storage.js'

/** A record as it is written: its lookup fields, and the whole record as JSON. */
export interface WrittenRecord {
  readonly kind: RecordKind
  readonly bucket: string
  /** Empty for none. */
  readonly idempotencyKey: string
  readonly timeStamp: number
  /** Name of its series: the series fields as JSON. */
  readonly series: string
  readonly json: string
}

/** The fields that all records of a series share. */
export type SeriesFields = readonly [level: string | null, eventId: number | null, appName: string, env: string | null]

export function writtenRecord({ kind, bucket, idempotencyKey = '', record }: NewRecord): WrittenRecord {
  const { timeStamp } = record
  return { kind, bucket, idempotencyKey, timeStamp, series: seriesOf(record), json: JSON.stringify(record) }
}

function seriesOf({ level, eventId, appName, env }: RecordFields): string {
  return JSON.stringify([level ?? null, eventId ?? null, appName, env ?? null] satisfies SeriesFields)
}

/** Records as one text with a line per value. A text crosses to another thread for a fraction of the cost of objects. */
export function toLines(records: readonly NewRecord[]): string {
  let lines = ''
  for (const record of records) {
    const { kind, bucket, idempotencyKey, timeStamp, series, json } = writtenRecord(record)
    // No value contains a line end: buckets and headers cannot, and JSON escapes it.
    lines += `${kind}\n${bucket}\n${idempotencyKey}\n${timeStamp}\n${series}\n${json}\n`
  }
  return lines
}

export function fromLines(text: string): WrittenRecord[] {
  const lines = text.split('\n')
  const records: WrittenRecord[] = []
  for (let at = 0; at + 6 <= lines.length; at += 6) {
    const [kind, bucket, idempotencyKey, timeStamp, series, json] = lines.slice(at, at + 6) as [RecordKind, ...string[]]
    records.push({
      kind,
      bucket: bucket!,
      idempotencyKey: idempotencyKey!,
      timeStamp: Number(timeStamp),
      series: series!,
      json: json!,
    })
  }
  return records
}
