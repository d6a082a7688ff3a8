import type pg from 'pg'
import {
  type ErrorNames,
  type ErrorSum,
  goneAtOnce,
  keyOfError,
  maxErrors,
  maxKinds,
  otherKinds,
  otherOf,
} from '../records/error-tallies.js'
import { type Crowd, type LeftErrors, numberOf } from './counted-errors.js'

/** The rows of a writer, of one bucket and day. */
export interface WriterRows {
  readonly bucket: string
  readonly day: number
  readonly writer: number
}

type Gone = ErrorNames & Omit<ErrorSum, 'firstId'> & { readonly number: number }

/**
 * Counts the errors of a crowd that came least recently as others, within a transaction. They are rows of one writer, so that no two transactions wait
 * for each other.
 */
export async function leaveCrowd(
  client: pg.ClientBase,
  { bucket, day, writer }: WriterRows,
  { app }: Crowd,
): Promise<LeftErrors> {
  const rows = [bucket, day, writer]
  const { rows: gone } =
    app === undefined
      ? await client.query<Gone>(leaveErrors, rows)
      : await client.query<Gone>(leaveKinds, [...rows, app])
  const left = new Set(gone.map(keyOfError))
  const others = new Map<string, Gone>()
  const moved: (readonly [from: number, to: number])[] = []
  for (const error of gone) {
    let other = otherOf(error)
    if (other !== undefined && left.has(keyOfError(other))) other = otherOf(other)
    if (other === undefined) continue
    const key = keyOfError(other)
    const known = others.get(key)
    const sum = known === undefined ? error : together(known, error)
    const number = known?.number ?? numberOf(other)
    others.set(key, { ...sum, ...other, number })
    moved.push([error.number, number])
  }
  const added = [...others.values()]
  const column = <Key extends keyof Gone>(key: Key) => added.map((other) => other[key])
  const names = [column('app'), column('env'), column('number')]
  const sums = [column('records'), column('lastId'), column('firstMs'), column('lastMs')]
  await client.query(addOthers, [...rows, ...names, ...sums])
  await client.query(moveSteps, [...rows, moved.map(([from]) => from), moved.map(([, to]) => to)])
  await client.query(leaveTexts, [...rows, gone.map(({ kind }) => kind)])
  if (added.length > 0) await client.query(addText, [...rows, otherKinds.id, otherKinds.message])
  return { gone, others: added }
}

function together(one: Gone, other: Gone): Gone {
  return {
    ...one,
    records: one.records + other.records,
    lastId: Math.max(one.lastId, other.lastId),
    firstMs: Math.min(one.firstMs, other.firstMs),
    lastMs: Math.max(one.lastMs, other.lastMs),
  }
}

const ofWriter = 'bucket = $1 AND day = $2 AND writer = $3'
const columns =
  'kind, app, env, version, number, records, last_id AS "lastId", first_ms AS "firstMs", last_ms AS "lastMs"'

/** What came last is seen by the rows of all writers. */
const leaveKinds = `DELETE FROM sluice_errors WHERE ${ofWriter} AND app = $4 AND kind IN (
    SELECT kind FROM sluice_errors WHERE bucket = $1 AND day = $2 AND app = $4 AND kind NOT IN ('', '${otherKinds.id}')
      GROUP BY kind ORDER BY max(last_id) DESC OFFSET ${maxKinds - goneAtOnce.kinds})
  RETURNING ${columns}`

const leaveErrors = `DELETE FROM sluice_errors WHERE ${ofWriter} AND (kind, app, env, version) IN (
    SELECT kind, app, env, version FROM sluice_errors WHERE ${ofWriter} AND NOT (kind = '${otherKinds.id}' AND app = '' AND env = '')
      ORDER BY last_id DESC OFFSET ${maxErrors - goneAtOnce.errors})
  RETURNING ${columns}`

const addOthers = `INSERT INTO sluice_errors AS e (bucket, app, env, number, records, last_id, first_ms, last_ms, kind, version, day, writer)
  SELECT $1::text, *, '${otherKinds.id}', '', $2::integer, $3::integer
    FROM unnest($4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::float8[], $10::float8[])
  ON CONFLICT (bucket, kind, app, env, version, day, writer) DO UPDATE SET records = e.records + excluded.records,
    last_id = greatest(e.last_id, excluded.last_id), first_ms = least(e.first_ms, excluded.first_ms),
    last_ms = greatest(e.last_ms, excluded.last_ms)`

const moveSteps = `WITH gone AS (
    DELETE FROM sluice_error_steps WHERE ${ofWriter} AND number = ANY($4::bigint[]) RETURNING number, step_ms, at_ms, records
  )
  INSERT INTO sluice_error_steps AS s (bucket, number, step_ms, at_ms, records, day, writer)
  SELECT $1::text, *, $2::integer, $3::integer FROM (
    SELECT m.other, g.step_ms, g.at_ms, sum(g.records)::bigint
      FROM gone g JOIN unnest($4::bigint[], $5::bigint[]) AS m (number, other) ON m.number = g.number GROUP BY 1, 2, 3) moved
  ON CONFLICT (bucket, number, step_ms, at_ms, day, writer) DO UPDATE SET records = s.records + excluded.records`

const leaveTexts = `DELETE FROM sluice_error_kinds k WHERE k.bucket = $1 AND day = $2 AND writer = $3 AND id = ANY($4::text[])
  AND NOT EXISTS (SELECT 1 FROM sluice_errors e WHERE e.bucket = $1 AND e.day = $2 AND e.writer = $3 AND e.kind = k.id)`

const addText = `INSERT INTO sluice_error_kinds (bucket, day, writer, id, type, message, frame)
  VALUES ($1, $2, $3, $4, NULL, $5, NULL) ON CONFLICT (bucket, id, day, writer) DO NOTHING`
