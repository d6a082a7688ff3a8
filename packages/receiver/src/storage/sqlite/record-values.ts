import { earliestMs, latestMs } from '../records/record-times.js'

/**
 * A record is counted by its level, or by its event if it has none: as JSON, so that no text is cut. The index of a lane has this expression,
 * and serves queries that have the same. The tables of version 4 have been made with these expressions: a change needs another migration.
 *
 * @param row name of the table in the query
 */
export function countedValueOf(row: string): string {
  return `coalesce(${row}.record -> '$.level', ${row}.record -> '$.eventId', 'null')`
}

/** SQL that rounds a time in ms down to whole minutes. */
export function minuteOf(ms: string): string {
  return `CAST((${ms} - ${earliestMs}) / 60000 AS INTEGER) * 60000 + ${earliestMs}`
}

/** SQL that brings a time in ms into the years that are counted. */
export function countedMs(ms: string): string {
  return `min(max(${ms}, ${earliestMs}), ${latestMs})`
}
