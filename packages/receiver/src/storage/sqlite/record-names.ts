import type { RecordQuery } from '../record-storage.js'
import { countedField, type FieldCondition } from '../records/field-conditions.js'
import type { Database } from './database.js'

/** The known values of the fields of a lane, with the numbers of their records. */
export class RecordNames {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** The number of records that meet the conditions, where a table has it. */
  count({ lane, kind, fields }: { lane: number; kind: RecordQuery['kind']; fields: readonly FieldCondition[] }) {
    const [first, ...others] = fields
    if (first === undefined) return this.#number('SELECT records AS number FROM lanes WHERE id = ?', [lane])
    if (others.length > 0 || first.not === true) return undefined
    if (first.field === countedField[kind]) {
      return this.#number(
        `SELECT coalesce(sum(records), 0) AS number FROM counts
           WHERE lane = ? AND step_ms = 0 AND at_ms = 0 AND value IN (SELECT value FROM json_each(?))`,
        [lane, JSON.stringify(first.values)],
      )
    }
    return this.#number(
      'SELECT records AS number FROM names WHERE lane = ? AND field = ? AND name IN (SELECT value FROM json_each(?))',
      [lane, first.field, JSON.stringify(first.values)],
    )
  }

  #number(sql: string, values: readonly (string | number)[]): number | undefined {
    return (this.#database.prepare(sql).get(...values) as { number: number } | undefined)?.number
  }
}
