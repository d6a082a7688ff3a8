import { levelsFrom } from '../../schemas/levels.js'
import type { RecordFilter, RecordKind } from '../record-storage.js'
import { countedValueOf } from './record-values.js'

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

/** The field that a kind of record is counted by. */
export const countedField = { logs: 'level', values: 'eventId' } as const satisfies Record<RecordKind, string>

/** The condition as SQL on a row `r` of the records of a kind. */
export function onRow(condition: FieldCondition, kind: RecordKind): Sql {
  const { field } = condition
  // The index of the lane has the field that the kind is counted by.
  return onValue(
    condition,
    field === countedField[kind] ? countedValueOf('r') : `coalesce(r.record -> '$.${field}', '')`,
  )
}

/** The condition as SQL on an expression. */
export function onValue({ values, not }: FieldCondition, expression: string): Sql {
  const compared = not === true ? 'NOT IN' : 'IN'
  return { sql: `${expression} ${compared} (SELECT value FROM json_each(?))`, values: [JSON.stringify(values)] }
}

function jsonOf(values: readonly Value[]): string[] {
  return values.map((value) => JSON.stringify(value))
}
