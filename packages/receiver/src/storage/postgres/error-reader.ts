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
import type { Question } from './postgres-rows.js'

/** Finds the most frequent kinds of error. */
export async function foundErrors(query: ErrorQuery, ask: Question): Promise<ErrorList> {
  const { bucket } = query
  const found = await ask<CountedKind & { readonly total: number }>(counted(query))
  const kinds = found.map(({ kind }) => kind)
  const [texts, rows] = await Promise.all([
    ask<ErrorKind>(
      sql`SELECT DISTINCT ON (id) id, type, message, frame FROM sluice_error_kinds WHERE bucket = ${bucket} AND id = ANY(${kinds}::text[])`,
    ),
    ask<ErrorRow>(
      sql`SELECT kind, app, env, version, min(first_ms) AS "firstMs", max(last_ms) AS "lastMs", max(last_id) AS "lastId" FROM sluice_errors e
        WHERE ${matching(query)} AND kind = ANY(${[anyKind, ...kinds]}::text[]) GROUP BY 1, 2, 3, 4`,
    ),
  ])
  const steps = answeredSteps(query, rows)
  const step = sql`((s.at_ms - ${steps.fromMs}::bigint) / ${steps.stepMs}::bigint)::integer`
  const stepRows = await ask<StepRow>(
    sql`SELECT e.kind AS kind, ${step} AS step, sum(s.records)::bigint AS records
      FROM (SELECT DISTINCT kind, number, day FROM sluice_errors e WHERE ${matching(query)} AND kind = ANY(${kinds}::text[])) e
      CROSS JOIN LATERAL (SELECT at_ms, records FROM sluice_error_steps s
        WHERE s.bucket = ${bucket} AND s.number = e.number AND s.day = e.day AND (${anyOf(steps.parts)}) OFFSET 0) s GROUP BY 1, 2`,
  )
  return errorList(query, { kinds: found, total: found[0]?.total ?? 0, texts, rows, steps, stepRows })
}

/** The kinds with the number of their records. */
function counted(query: ErrorQuery): Sql {
  const since = sinceOf(query)
  const ofKinds = sql`${matching(query)} AND e.kind > ${anyKind}`
  return sql`SELECT kind, sum(records)::bigint AS records, (count(*) OVER ())::integer AS total
    FROM (${since === undefined ? sql`SELECT kind, records, last_ms FROM sluice_errors e WHERE ${ofKinds}` : countedSince(query, since)}) found
    GROUP BY kind ORDER BY 2 DESC, max(last_ms) DESC, kind LIMIT ${query.limit}`
}

/**
 * The steps since a time are added up first: the index by time has them, and there may be many errors with few of them. It has a sum in place of the
 * length of the step, so that nobody looks for the steps of one error there: before the first ANALYZE the planner cannot tell the indexes apart.
 */
function countedSince(query: ErrorQuery, since: number): Sql {
  const parts = errorParts(since).map(
    ({ stepMs, from, to }) => sql`SELECT s.number, s.records FROM sluice_error_steps s
      WHERE s.bucket = ${query.bucket} AND s.step_ms + 0 = ${stepMs}::bigint AND s.at_ms >= ${from}::bigint AND s.at_ms < ${to}::bigint`,
  )
  return sql`SELECT e.kind, c.records, e.last_ms
    FROM (SELECT kind, number, max(last_ms) AS last_ms FROM sluice_errors e
      WHERE ${matching(query)} AND e.kind > ${anyKind} AND e.last_ms >= ${since} GROUP BY 1, 2) e
    JOIN (SELECT number, sum(records) AS records FROM (${joined(parts, ' UNION ALL ')}) steps GROUP BY 1) c ON c.number = e.number`
}

function matching({ bucket, appName, env }: ErrorQuery): Sql {
  const conditions = [sql`e.bucket = ${bucket}`]
  if (appName !== undefined) conditions.push(sql`e.app = ${errorName(appName)}`)
  if (env !== undefined) conditions.push(sql`e.env = ${errorName(env)}`)
  return allOf(conditions)
}

function anyOf(parts: readonly ErrorPart[]): Sql {
  return joined(parts.map(isIn), ' OR ')
}

function isIn({ stepMs, from, to }: ErrorPart): Sql {
  return sql`(s.step_ms = ${stepMs}::bigint AND s.at_ms >= ${from}::bigint AND s.at_ms < ${to}::bigint)`
}
