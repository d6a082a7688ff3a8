import type { RecordKind } from '../record-storage.js'
import { countedField, type FieldCondition } from '../records/field-conditions.js'
import { raw, type Sql, sql } from '../sql.js'
import { countedValueOf } from './record-values.js'

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
  return sql`${raw(expression)} ${raw(not === true ? 'NOT IN' : 'IN')} (SELECT value FROM json_each(${values}))`
}
