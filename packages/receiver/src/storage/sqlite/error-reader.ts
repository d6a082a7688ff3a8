import type { ErrorList, ErrorQuery } from '../record-storage.js'
import type { ErrorKind } from '../records/error-kind.js'
import {
  answeredSteps,
  type CountedKind,
  type ErrorPart,
  type ErrorRow,
  errorList,
  errorParts,
  type StepRow,
  sinceOf,
} from '../records/error-list.js'
import { anyKind, errorName } from '../records/error-tallies.js'
import { allOf, joined, type Sql, sql } from '../sql.js'
import { type Database, inLateTransaction } from './database.js'
import { rowsOf } from './sqlite-rows.js'

interface Asked {
  readonly database: Database
  readonly lane: number
}

/** Finds the most frequent kinds of error, in one transaction: meanwhile the writer may store and forget records. */
export function foundErrors(query: ErrorQuery, { database, lane }: Asked): ErrorList {
  const ask = <Row>(statement: Sql) => rowsOf(database, statement) as Row[]
  return inLateTransaction(database, () => {
    const found = ask<CountedKind & { readonly total: number }>(counted(query, lane))
    const kinds = found.map(({ kind }) => kind)
    const texts = ask<ErrorKind>(
      sql`SELECT id, type, message, frame FROM error_kinds WHERE lane = ${lane} AND id IN (${list(kinds)})`,
    )
    const rows = ask<ErrorRow>(
      sql`SELECT kind, app, env, version, first_ms AS firstMs, last_ms AS lastMs, last_id AS lastId FROM errors e
        WHERE ${matching(query, lane)} AND kind IN (${list([anyKind, ...kinds])})`,
    )
    const steps = answeredSteps(query, rows)
    const { fromMs, stepMs } = steps
    const stepRows = ask<StepRow>(
      sql`SELECT e.kind AS kind, CAST((s.at_ms - ${fromMs}) / ${stepMs} AS INTEGER) AS step, sum(s.records) AS records
        FROM errors e CROSS JOIN error_steps s ON s.error = e.number AND (${anyOf(steps.parts)})
        WHERE ${matching(query, lane)} AND e.kind IN (${list(kinds)}) GROUP BY 1, 2`,
    )
    return errorList(query, { kinds: found, total: found[0]?.total ?? 0, texts, rows, steps, stepRows })
  })
}

/** The kinds with the number of their records. An error that came later than the time that was asked for needs no look at its steps. */
function counted(query: ErrorQuery, lane: number): Sql {
  const since = sinceOf(query)
  const ofKinds = sql`${matching(query, lane)} AND e.kind > ${anyKind}`
  const found =
    since === undefined
      ? sql`SELECT kind, records, last_ms FROM errors e WHERE ${ofKinds}`
      : sql`SELECT kind, iif(first_ms >= ${since}, records, ${joined(errorParts(since).map(recordsOf), ' + ')}) AS records, last_ms
          FROM errors e WHERE ${ofKinds} AND last_ms >= ${since}`
  return sql`SELECT kind, sum(records) AS records, count(*) OVER () AS total FROM (${found}) GROUP BY kind
    ORDER BY 2 DESC, max(last_ms) DESC, kind LIMIT ${query.limit}`
}

function matching({ appName, env }: ErrorQuery, lane: number): Sql {
  const conditions = [sql`e.lane = ${lane}`]
  if (appName !== undefined) conditions.push(sql`e.app = ${errorName(appName)}`)
  if (env !== undefined) conditions.push(sql`e.env = ${errorName(env)}`)
  return allOf(conditions)
}

/** An error that ended before the part needs no look at it. */
function recordsOf(part: ErrorPart): Sql {
  const steps = sql`SELECT sum(s.records) FROM error_steps s WHERE s.error = e.number AND ${isIn(part)}`
  return sql`iif(last_ms >= ${part.from}, coalesce((${steps}), 0), 0)`
}

function anyOf(parts: readonly ErrorPart[]): Sql {
  return joined(parts.map(isIn), ' OR ')
}

function isIn({ stepMs, from, to }: ErrorPart): Sql {
  return sql`(s.step_ms = ${stepMs} AND s.at_ms >= ${from} AND s.at_ms < ${to})`
}

function list(values: readonly string[]): Sql {
  return sql`SELECT value FROM json_each(${JSON.stringify(values)})`
}
