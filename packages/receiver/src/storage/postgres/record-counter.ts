import type { CountQuery, RecordCounts } from '../record-storage.js'
import { countParts } from '../records/count-parts.js'
import { countedField, fieldConditions, needsWords } from '../records/field-conditions.js'
import { maxCounted } from '../records/limits.js'
import { type CountRow, countsOf } from '../records/record-counts.js'
import { earliestMs, latestMs } from '../records/record-times.js'
import { allOf, joined, raw, type Sql, sql } from '../sql.js'
import { anyValue } from './counted-names.js'
import type { Question } from './postgres-rows.js'
import { allIds, type Found, type RecordSelection } from './record-selection.js'
import { countedName } from './record-terms.js'

/** What a question asks. */
interface Asked {
  readonly ask: Question
  readonly selection: RecordSelection
}

/** Counts records by level or event and time: from the tables of counts, or one by one. */
export async function counted(query: CountQuery, asked: Asked): Promise<RecordCounts> {
  const { stepMs } = query
  const isInTable = fieldConditions(query).every(({ field }) => field === countedField[query.kind])
  if (!needsWords(query) && isInTable) return countsOf(await ofTables(query, asked), stepMs)
  const { found } = await asked.selection.newest(query, { limit: maxCounted + 1 })
  const rows = rowsOf(found.slice(0, maxCounted), stepMs)
  const counts = countsOf(rows, stepMs)
  if (found.length <= maxCounted) return counts
  return { ...counts, countedSinceMs: Math.min(...rows.map(({ firstMs }) => firstMs)) }
}

async function ofTables(query: CountQuery, { ask, selection }: Asked): Promise<CountRow[]> {
  const { bucket, kind, stepMs = 0 } = query
  const lane = sql`bucket = ${bucket} AND kind = ${kind}`
  const conditions = fieldConditions(query).map(({ values, not }) => {
    const names = values.map(countedName)
    return not === true ? sql`value <> ALL(${names}::text[])` : sql`value = ANY(${names}::text[])`
  })
  const parts: Sql[] = []
  for (const { of, from, to } of countParts(query)) {
    if (of !== 'record') {
      parts.push(sql`SELECT at_ms AS at, value, records, last_ms AS ms FROM sluice_counts WHERE ${lane} AND step_ms = ${of}
        AND value <> ${anyValue} AND at_ms >= ${from}::bigint AND at_ms < ${to}::bigint`)
      continue
    }
    const ids = await selection.withTimes({ bucket, kind, since: from, until: to }, allIds)
    if (ids === undefined) continue
    parts.push(sql`SELECT floor(${ms} / 60000)::bigint * 60000 AS at, value, 1 AS records, ${ms} AS ms FROM sluice_records
      WHERE ${lane} AND id BETWEEN ${ids.first} AND ${ids.last} AND time_ms >= ${from}::float8 AND time_ms < ${to}::float8`)
  }
  if (parts.length === 0) return []
  const step = raw(stepMs === 0 ? '0::bigint' : `at - ((at % ${stepMs}) + ${stepMs}) % ${stepMs}`)
  return ask<CountRow>(
    sql`SELECT ${step} AS step, value, sum(records)::bigint AS records, max(ms) AS "lastMs", min(ms) AS "firstMs"
       FROM (${joined(parts, ' UNION ALL ')}) parts WHERE ${allOf([raw('true'), ...conditions])} GROUP BY 1, 2`,
  )
}

/** The time of a record in the years that are counted. */
const ms = raw(`least(greatest(time_ms, ${earliestMs}), ${latestMs})`)

function rowsOf(found: readonly Found[], stepMs: number | undefined): CountRow[] {
  const rows = new Map<string, Mutable<CountRow>>()
  for (const { timeMs, value } of found) {
    const ms = Math.min(Math.max(timeMs, earliestMs), latestMs)
    const step = stepMs === undefined ? 0 : Math.floor(ms / stepMs) * stepMs
    const name = `${step} ${value}`
    const row = rows.get(name)
    if (row === undefined) rows.set(name, { step, value, records: 1, firstMs: ms, lastMs: ms })
    else {
      row.records++
      row.firstMs = Math.min(row.firstMs, ms)
      row.lastMs = Math.max(row.lastMs, ms)
    }
  }
  return [...rows.values()]
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
