import { levelsFrom } from '../../schemas/levels.js'
import type { RecordFilter, RecordKind, RecordQuery } from '../record-storage.js'

/** Fields that filters compare as they are. */
const exactFields = ['eventId', 'appName', 'env', 'machineName', 'appVersion'] as const

/** A condition on one field of a record. `values` are JSON, as in the record: SQLite would cut a text at NUL. */
export interface FieldCondition {
  readonly field: 'level' | (typeof exactFields)[number]
  readonly values: readonly string[]
  /** The field has none of the values. */
  readonly not?: true
}

/** The conditions of a filter, except words and times. */
export function fieldConditions(filter: RecordFilter): FieldCondition[] {
  const { levels, minLevel, notLevels, levelRanges = [] } = filter
  const conditions: FieldCondition[] = []
  if (levels !== undefined) conditions.push({ field: 'level', values: jsonOf(levels) })
  if (minLevel !== undefined) conditions.push({ field: 'level', values: jsonOf(levelsFrom(minLevel)) })
  if (notLevels !== undefined) conditions.push({ field: 'level', values: jsonOf(notLevels), not: true })
  for (const range of levelRanges) conditions.push({ field: 'level', values: jsonOf(range) })
  for (const field of exactFields) {
    const value = filter[field]
    if (value !== undefined) conditions.push({ field, values: jsonOf([value]) })
  }
  return conditions
}

/** True for a filter that only an index of words can answer. */
export function needsWords({ text, notText, query }: RecordFilter): boolean {
  return text !== undefined || notText !== undefined || query !== undefined
}

/** True for the records that follow an id. All other pages are read from their newest record on. */
export function isNextPage({ before, after }: RecordQuery): boolean {
  return after !== undefined && before === undefined
}

/** True for the newest records of a lane, whatever they are: stores find them, and their total, at once. */
export function isNewestPage({ before, after, ...filter }: RecordQuery): boolean {
  const others = [before, after, filter.since, filter.until]
  return others.every((each) => each === undefined) && !needsWords(filter) && fieldConditions(filter).length === 0
}

/** The field that a kind of record is counted by. */
export const countedField = { logs: 'level', values: 'eventId' } as const satisfies Record<RecordKind, string>

function jsonOf(values: readonly (string | number)[]): string[] {
  return values.map((value) => JSON.stringify(value))
}
