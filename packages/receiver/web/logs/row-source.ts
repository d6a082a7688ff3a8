import type { LogRecord } from '../api/records.js'
import { threads } from './threads.js'

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

/** Longest part of a message that is compared. */
const maxCompared = 300
const names = threads.map((name) => name.replace('.', '\\.')).join('|')
/**
 * What differs from line to line: the value of a field for requests or traces, `req-a` of Fastify, UUIDs, and words with a digit in them, such as
 * `21c`, `1.5` or `f3a9`.
 */
const changing = new RegExp(
  [
    `(?<="(?:${names})":)"[^"]*"`,
    '\\breq-[\\da-z]+\\b',
    '\\b[\\da-f]{8}-(?:[\\da-f]{4}-){3}[\\da-f]{12}\\b',
    '(?<![\\da-z])(?=[a-z]*\\d)[\\da-z]+(?:\\.\\d[\\da-z]*)?',
  ].join('|'),
  'gi',
)

/** One row for each kind of message: the same but for numbers and ids. The row is the newest record of its group. */
export function groupedRows(rows: readonly LogRecord[]): RowSource {
  const groups = new Map<string, { newest: LogRecord; count: number }>()
  for (const record of rows) {
    // Ids have different lengths, so that the text is cut behind them.
    const text = record.message
      .slice(0, 2 * maxCompared)
      .replace(changing, '#')
      .slice(0, maxCompared)
    const key = `${record.level}\n${record.appName}\n${text}`
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
