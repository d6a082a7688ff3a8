import { type LogRecord, timeOf } from '../api/records.js'
import { isoTime } from '../text/time.js'
import { findOlder } from './older-records.js'
import type { RecordFilter } from './record-filter.js'

/** An export ends with this many records: the newest. */
export const maxExported = 100_000
const columns = [
  'id',
  'receivedAt',
  'timeStamp',
  'level',
  'appName',
  'machineName',
  'env',
  'appVersion',
  'eventId',
  'runtimeVersion',
  'message',
] as const

/** Reads the records of a view, newest first, and hands them to the browser as a file. */
export async function exportRecords(
  format: 'ndjson' | 'csv',
  { bucket, filter }: { bucket: string; filter: RecordFilter },
): Promise<void> {
  const parts: string[] = format === 'csv' ? [`time,${columns.join(',')}\r\n`] : []
  const write = format === 'csv' ? csvLine : (record: LogRecord) => `${JSON.stringify(record)}\n`
  let before: number | undefined
  for (let count = 0; count < maxExported; ) {
    const found = await findOlder({ bucket, filter, before, enough: 1000 })
    for (const record of found.records.toReversed()) parts.push(write(record))
    count += found.records.length
    before = found.before
    if (before === undefined) break
  }
  const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson'
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob(parts, { type }))
  link.download = `${bucket}-logs.${format}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

function csvLine(record: LogRecord): string {
  const cells = [isoTime(timeOf(record)), ...columns.map((column) => record[column])]
  return `${cells.map((cell = '') => csvCell(cell)).join(',')}\r\n`
}

/** A spreadsheet takes a text that begins with one of `=+-@` as a formula, so that an apostrophe goes before it. */
function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
