import type { RecordKind } from '../record-storage.js'
import { countedField, type FieldCondition } from '../records/field-conditions.js'
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
