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
import { allOf, joined, raw, type Sql, sql } from '../sql.js'
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
      FROM (SELECT DISTINCT kind, number FROM sluice_errors e WHERE ${matching(query)} AND kind = ANY(${kinds}::text[])) e
      JOIN sluice_error_steps s ON s.bucket = ${bucket} AND s.number = e.number AND (${anyOf(steps.parts)}) GROUP BY 1, 2`,
  )
  return errorList(query, { kinds: found, total: found[0]?.total ?? 0, texts, rows, steps, stepRows })
}

/** The kinds with the number of their records. */
function counted(query: ErrorQuery): Sql {
  const since = sinceOf(query)
  const ofKinds = sql`${matching(query)} AND e.kind > ${anyKind}`
  return sql`SELECT kind, sum(records)::bigint AS records, (count(*) OVER ())::integer AS total
    FROM (${since === undefined ? sql`SELECT kind, records, last_ms FROM sluice_errors e WHERE ${ofKinds}` : countedSince(query, since)}) found
    GROUP BY kind ORDER BY 2 DESC, max(last_ms) DESC, kind COLLATE "C" LIMIT ${query.limit}`
}

/** The records of errors that began later need no look at their steps. */
function countedSince(query: ErrorQuery, since: number): Sql {
  const ofKinds = sql`${matching(query)} AND e.kind > ${anyKind} AND e.last_ms >= ${since}`
  return sql`SELECT kind, sum(records)::bigint AS records, max(last_ms) AS last_ms FROM (
      SELECT kind, number, sum(records) AS records, max(last_ms) AS last_ms FROM sluice_errors e WHERE ${ofKinds} AND e.first_ms >= ${since} GROUP BY 1, 2
      UNION ALL
      SELECT e.kind, e.number, sum(s.records) AS records, max(e.last_ms) AS last_ms
        FROM sluice_errors e
        JOIN sluice_error_steps s ON s.bucket = e.bucket AND s.number = e.number AND s.day = e.day AND s.writer = e.writer
        WHERE ${ofKinds} AND e.first_ms < ${since} AND s.bucket = ${query.bucket} AND (${anyOf(errorParts(since))}) GROUP BY 1, 2
    ) both_parts GROUP BY kind`
}

function matching({ bucket, appName, env }: ErrorQuery): Sql {
  const conditions = [sql`e.bucket = ${bucket}`]
  if (appName !== undefined) conditions.push(sql`e.app = ${errorName(appName)}`)
  if (env !== undefined) conditions.push(sql`e.env = ${errorName(env)}`)
  return allOf(conditions)
}

function anyOf(parts: readonly ErrorPart[]): Sql {
  return parts.length === 0 ? raw('false') : joined(parts.map(isIn), ' OR ')
}

function isIn({ stepMs, from, to }: ErrorPart): Sql {
  return sql`(s.step_ms = ${stepMs} AND s.at_ms >= ${from}::bigint AND s.at_ms < ${to}::bigint)`
}
