import { type LogRecord, timeOf } from '../api/records.js'

/** A record moves at most this far back. What a library delivers late, after an outage, must not vanish into the past. */
const maxMs = 2_000
const maxRows = 100

/**
 * Adds a record at the end, or a little before it. Requests of a library overtake each other, so that records arrive a little out of the order
 * of their time stamps.
 */
export function insertByTime(rows: LogRecord[], record: LogRecord): void {
  const time = timeOf(record)
  const limit = Math.max(0, rows.length - maxRows)
  let place = rows.length
  while (place > limit) {
    const before = timeOf(rows[place - 1]!)
    if (before <= time || before > time + maxMs) break
    place--
  }
  if (place === rows.length) rows.push(record)
  else rows.splice(place, 0, record)
}

/** Records in the order in which a list shows them. */
export function inTimeOrder(records: readonly LogRecord[]): LogRecord[] {
  const rows: LogRecord[] = []
  for (const record of records) insertByTime(rows, record)
  return rows
}
