/**
 * A record is counted by its level, or by its event if it has none: as JSON, so that no text is cut. The index of a lane has this expression,
 * and serves queries that have the same.
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

/** The years 0000 to 9999: other times count as the nearest of these. */
export const earliestMs = -62_167_219_200_000
export const latestMs = 253_402_300_799_999

/** The fields with known values. */
export const namedFields = ['appName', 'env', 'machineName', 'appVersion', 'eventId'] as const
/** Only so many values of a field are known. */
export const maxNames = 1000
/** A longer value, as JSON, is not known. */
export const maxNameLength = 200
