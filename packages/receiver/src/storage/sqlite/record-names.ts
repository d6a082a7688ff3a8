import type { RecordFilter, RecordQuery, UnknownValue } from '../record-storage.js'
import { countedField, type FieldCondition } from '../records/field-conditions.js'
import { candidates, namedConditions } from '../records/known-values.js'
import { maxNames } from '../records/named-fields.js'
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

  /**
   * The first value of a filter that no record of the lane has.
   *
   * @param occurs looks for a record where the tables do not say
   */
  unknown({
    query,
    lane,
    occurs,
  }: {
    readonly query: RecordQuery
    readonly lane: number
    readonly occurs: (filter: Partial<RecordFilter>) => boolean
  }): UnknownValue | undefined {
    for (const condition of namedConditions(query)) {
      const { field } = condition
      const names = this.#names({ lane, field, isCounted: field === countedField[query.kind] })
      const isComplete = names.length < maxNames && !this.#hasUncounted(lane, field)
      const found = candidates(condition, { names, isComplete }).find(
        ({ isCertain, filter }) => isCertain || !occurs(filter),
      )
      if (found !== undefined) return found.unknown
    }
    return undefined
  }

  /** The most frequent first. */
  #names({ lane, field, isCounted }: { lane: number; field: string; isCounted: boolean }): string[] {
    const rows = isCounted
      ? this.#database
          .prepare(
            'SELECT value AS name FROM counts WHERE lane = ? AND step_ms = 0 AND at_ms = 0 ORDER BY records DESC, name LIMIT ?',
          )
          .all(lane, maxNames)
      : this.#database
          .prepare('SELECT name FROM names WHERE lane = ? AND field = ? ORDER BY records DESC, name LIMIT ?')
          .all(lane, field, maxNames)
    return (rows as { name: string }[]).map(({ name }) => name)
  }

  /** True while there may be records with names that found no room. */
  #hasUncounted(lane: number, field: string): boolean {
    const found = this.#database.prepare('SELECT 1 FROM uncounted_names WHERE lane = ? AND field = ?').get(lane, field)
    return found !== undefined
  }

  #number(sql: string, values: readonly (string | number)[]): number | undefined {
    return (this.#database.prepare(sql).get(...values) as { number: number } | undefined)?.number
  }
}
