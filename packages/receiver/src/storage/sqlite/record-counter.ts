import type { CountQuery, RecordCounts } from '../record-storage.js'
import { countParts } from '../records/count-parts.js'
import { countedField, fieldConditions, needsWords } from '../records/field-conditions.js'
import { maxCounted } from '../records/limits.js'
import { type CountRow, countsOf } from '../records/record-counts.js'
import { allOf, joined, raw, type Sql, sql } from '../sql.js'
import type { Database } from './database.js'
import { onValue } from './record-conditions.js'
import type { RecordSelection, Source } from './record-selection.js'
import { countedMs, countedValueOf, minuteOf } from './record-values.js'
import { rowsOf } from './sqlite-rows.js'

/** Counts records by level or event and time: from the table of counts, or one by one. */
export function counted(
  query: CountQuery,
  {
    database,
    selection,
    lane,
  }: { readonly database: Database; readonly selection: RecordSelection; readonly lane: number },
): RecordCounts {
  const { kind, stepMs } = query
  const fields = fieldConditions(query)
  const isInTable = fields.every(({ field }) => field === countedField[kind])
  if (!needsWords(query) && isInTable) {
    const condition = fields.length === 0 ? raw('true') : allOf(fields.map((field) => onValue(field, 'value')))
    const found = sql`SELECT *, 0 AS id FROM (${union(tableParts(query, lane))}) WHERE ${condition}`
    return countsOf(rowsOf(database, added(found, stepMs)) as CountRow[], stepMs)
  }
  const rows: (CountRow & { readonly firstId: number })[] = []
  let left = maxCounted
  for (const source of selection.sources(query, { lane })) {
    const found = rowsOf(database, added(newest(source, left), stepMs)) as typeof rows
    rows.push(...found)
    left -= found.reduce((sum, { records }) => sum + records, 0)
    if (left <= 0) break
  }
  const counts = countsOf(rows, stepMs)
  if (left > 0) return counts
  const before = Math.min(...rows.map(({ firstId }) => firstId)) - 1
  for (const source of selection.sources(query, { lane, ids: { first: 0, last: before } })) {
    if (rowsOf(database, sql`SELECT 1 FROM ${source} LIMIT 1`).length === 0) continue
    return { ...counts, countedSinceMs: Math.min(...rows.map(({ firstMs }) => firstMs)) }
  }
  return counts
}

/** Adds up by step and value. */
function added(found: Sql, stepMs: number | undefined): Sql {
  const step = raw(stepMs === undefined ? '0' : `at - ((at % ${stepMs}) + ${stepMs}) % ${stepMs}`)
  return sql`SELECT ${step} AS step, value, sum(records) AS records, max(ms) AS lastMs, min(ms) AS firstMs, min(id) AS firstId FROM (${found}) GROUP BY 1, 2`
}

const ms = raw(countedMs('r.time_ms'))
const value = raw(countedValueOf('r'))
const minute = raw(minuteOf('ms'))

/** The newest records of the source, each as a row of counts. */
function newest(source: Source, limit: number): Sql {
  return sql`SELECT ${minute} AS at, value, 1 AS records, ms, id FROM (
    SELECT r.id AS id, ${ms} AS ms, ${value} AS value FROM ${source} ORDER BY ${raw(source.order)} LIMIT ${limit})`
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
  return sql`SELECT at_ms AS at, value, records, last_ms AS ms FROM counts
    WHERE lane = ${lane} AND step_ms = ${size} AND at_ms >= ${from} AND at_ms < ${to}`
}

function ofRecords({ lane, from, to }: Part): Sql {
  return sql`SELECT ${minute} AS at, value, 1 AS records, ms FROM (
    SELECT ${ms} AS ms, ${value} AS value
      FROM spans s CROSS JOIN records r INDEXED BY records_by_lane ON r.id BETWEEN s.first_id AND s.last_id
      WHERE s.lane = ${lane} AND s.latest_ms >= ${from} AND s.earliest_ms < ${to}
        AND r.lane = ${lane} AND r.time_ms >= ${from} AND r.time_ms < ${to})`
}

function union(parts: readonly Sql[]): Sql {
  return joined(parts, ' UNION ALL ')
}
