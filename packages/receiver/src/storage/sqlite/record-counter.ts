import type { CountQuery, RecordCounts } from '../record-storage.js'
import { countParts } from '../records/count-parts.js'
import { countedField, fieldConditions } from '../records/field-conditions.js'
import { maxCounted } from '../records/limits.js'
import { type CountRow, countsOf } from '../records/record-counts.js'
import type { Database } from './database.js'
import { allOf, onValue, type Sql, type Value } from './record-conditions.js'
import type { RecordSelection, Source } from './record-selection.js'
import { countedMs, countedValueOf, minuteOf } from './record-values.js'

/** Counts records by level or event and time: from the table of counts, or one by one. */
export class RecordCounter {
  readonly #database: Database
  readonly #selection: RecordSelection

  constructor(database: Database, selection: RecordSelection) {
    this.#database = database
    this.#selection = selection
  }

  count(query: CountQuery, lane: number): RecordCounts {
    const { text, notText, kind, stepMs } = query
    const fields = fieldConditions(query)
    const isInTable = fields.every(({ field }) => field === countedField[kind])
    if (text === undefined && notText === undefined && isInTable) {
      const found = joined(tableParts(query, lane))
      const condition = allOf(fields.map((field) => onValue(field, 'value')))
      return countsOf(this.#rows({ found, condition, stepMs }), stepMs)
    }
    const sources = this.#selection.sources(query, { lane })
    const rows = this.#rows({ found: newest(sources), condition: { sql: '', values: [] }, stepMs })
    const counts = countsOf(rows, stepMs)
    if (counts.total < maxCounted || !this.#hasMore(sources)) return counts
    return { ...counts, countedSinceMs: Math.min(...rows.map(({ firstMs }) => firstMs)) }
  }

  /** Adds up by step and value. */
  #rows({ found, condition, stepMs }: { found: Sql; condition: Sql; stepMs: number | undefined }): CountRow[] {
    const step = stepMs === undefined ? '0' : `at - ((at % ${stepMs}) + ${stepMs}) % ${stepMs}`
    const sql = `SELECT ${step} AS step, value, sum(records) AS records, max(ms) AS lastMs, min(ms) AS firstMs FROM (${found.sql})
      ${condition.sql === '' ? '' : `WHERE ${condition.sql}`} GROUP BY 1, 2`
    return this.#database.prepare(sql).all(...found.values, ...condition.values) as CountRow[]
  }

  #hasMore(sources: readonly Source[]): boolean {
    const { sql, values } = joined(sources.map((source) => ({ ...source, sql: `SELECT 1 FROM ${source.sql}` })))
    return this.#database.prepare(`${sql} LIMIT 1 OFFSET ?`).all(...values, maxCounted).length > 0
  }
}

/** The newest records of the sources, each as a row of counts. */
function newest(sources: readonly Source[]): Sql {
  const { sql, values } = joined(
    sources.map((source) => ({
      sql: `SELECT * FROM (SELECT ${countedMs('r.time_ms')} AS ms, ${countedValueOf('r')} AS value FROM ${source.sql}
        ORDER BY ${source.order} LIMIT ${maxCounted})`,
      values: source.values,
    })),
  )
  const records = `SELECT ms, value FROM (${sources.length === 0 ? 'SELECT 0 AS ms, 0 AS value WHERE false' : sql}) LIMIT ${maxCounted}`
  return { sql: `SELECT ${minuteOf('ms')} AS at, value, 1 AS records, ms FROM (${records})`, values }
}

function tableParts(query: CountQuery, lane: number): Sql[] {
  return countParts(query).map(({ of, from, to }) =>
    of === 'record' ? ofRecords({ lane, from, to }) : ofTable({ lane, size: of, from, to }),
  )
}

interface Part {
  readonly lane: number
  readonly from: number
  readonly to: number
}

function ofTable({ lane, size, from, to }: Part & { readonly size: number }): Sql {
  return {
    sql: `SELECT at_ms AS at, value, records, last_ms AS ms FROM counts
      WHERE lane = ? AND step_ms = ? AND at_ms >= ? AND at_ms < ?`,
    values: [lane, size, from, to],
  }
}

function ofRecords({ lane, from, to }: Part): Sql {
  return {
    sql: `SELECT ${minuteOf('ms')} AS at, value, 1 AS records, ms FROM (
      SELECT ${countedMs('r.time_ms')} AS ms, ${countedValueOf('r')} AS value
        FROM spans s CROSS JOIN records r INDEXED BY records_by_lane ON r.id BETWEEN s.first_id AND s.last_id
        WHERE s.lane = ? AND s.latest_ms >= ? AND s.earliest_ms < ? AND r.lane = ? AND r.time_ms >= ? AND r.time_ms < ?)`,
    values: [lane, from, to, lane, from, to],
  }
}

function joined(parts: readonly Sql[]): Sql {
  return {
    sql: parts.map(({ sql }) => sql).join(' UNION ALL '),
    values: parts.flatMap(({ values }): readonly Value[] => values),
  }
}
