import type { LogRecord } from '../api/records.js'

/** The rows of the table: all records, or one for each group. */
export interface RowSource {
  readonly rows: readonly LogRecord[]
  /** See `LogList.origin`. */
  readonly origin: number
  /** The place of a record, or -1. */
  indexOf(id: number): number
  /** The number of records for which a row stands. */
  countOf?(id: number): number | undefined
}

/** All records as rows. */
export function plainRows(rows: readonly LogRecord[], origin: number): RowSource {
  return { rows, origin, indexOf: (id) => placeOf(rows, id) }
}

function placeOf(rows: readonly LogRecord[], id: number): number {
  return rows.findLastIndex((record) => record.id === id)
}

const changing = /\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b|\b(?=[a-f]*\d)[\da-f]{6,}\b|\d+(?:\.\d+)?/gi

/** One row for each kind of message: the same but for numbers and ids. The row is the newest record of its group. */
export function groupedRows(rows: readonly LogRecord[]): RowSource {
  const groups = new Map<string, { newest: LogRecord; count: number }>()
  for (const record of rows) {
    const key = `${record.level}\n${record.appName}\n${record.message.slice(0, 300).replace(changing, '#')}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { newest: record, count: 1 })
    else {
      group.newest = record
      group.count++
    }
  }
  const counts = new Map([...groups.values()].map(({ newest, count }) => [newest.id, count]))
  const newest = [...groups.values()].map((group) => group.newest).sort((a, b) => a.id - b.id)
  return { rows: newest, origin: 0, indexOf: (id) => placeOf(newest, id), countOf: (id) => counts.get(id) }
}
