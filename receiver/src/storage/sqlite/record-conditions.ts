import { levelsFrom } from '../../schemas/levels.js'
import type { RecordFilter } from '../record-storage.js'

export type Value = string | number

/** A piece of SQL and the values for its question marks. */
export interface Sql {
  readonly sql: string
  readonly values: readonly Value[]
}

export function allOf(conditions: readonly Sql[]): Sql {
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  }
}

/** Fields that filters compare as they are. */
export const exactFields = ['eventId', 'appName', 'env', 'machineName', 'appVersion'] as const

/** A condition on one field of a record. `values` are JSON, as in the record: SQLite would cut a text at NUL. */
export interface FieldCondition {
  readonly field: 'level' | (typeof exactFields)[number]
  readonly values: readonly string[]
  /** The field has none of the values. */
  readonly not?: true
}

/** The conditions of a filter, except words and times. */
export function fieldConditions(filter: RecordFilter): FieldCondition[] {
  const { levels, minLevel, notLevels } = filter
  const conditions: FieldCondition[] = []
  if (levels !== undefined) conditions.push({ field: 'level', values: jsonOf(levels) })
  if (minLevel !== undefined) conditions.push({ field: 'level', values: jsonOf(levelsFrom(minLevel)) })
  if (notLevels !== undefined) conditions.push({ field: 'level', values: jsonOf(notLevels), not: true })
  for (const field of exactFields) {
    const value = filter[field]
    if (value !== undefined) conditions.push({ field, values: jsonOf([value]) })
  }
  return conditions
}

/** The condition as SQL on a row `r` of the records. */
export function onRow({ field, values, not }: FieldCondition): Sql {
  const compared = not === true ? 'NOT IN' : 'IN'
  return {
    sql: `coalesce(r.record -> '$.${field}', '') ${compared} (SELECT value FROM json_each(?))`,
    values: [JSON.stringify(values)],
  }
}

function jsonOf(values: readonly Value[]): string[] {
  return values.map((value) => JSON.stringify(value))
}
