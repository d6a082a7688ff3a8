import { createHash } from 'node:crypto'
import type pg from 'pg'
import { rememberedMs } from '../attempts.js'

/** A key that is longer stands in the table as its hash. */
const maxKeyLength = 200

/** Attempts at some requests on one bucket, each with the result that it would have. */
export interface NewAttempts {
  readonly bucket: string
  readonly scopes: readonly string[]
  readonly keys: readonly string[]
  readonly results: readonly string[]
  /** Time of the database. */
  readonly nowMs: number
}

/** The idempotency key as it stands in the table. */
export function storedKey(key: string): string {
  return key.length <= maxKeyLength ? key : `sha256 ${createHash('sha256').update(key).digest('hex')}`
}

/**
 * Stores attempts. Returns the results that count, in any order: those of first attempts, and the earlier ones of attempts that are known.
 *
 * A row that exists is written again: its commit then waits for the standbys as that of a new one does. Callers sort the attempts: two transactions
 * then meet the same rows in the same order, and none waits for a row of the other that waits for its own.
 */
export async function addAttempts(
  client: pg.ClientBase,
  { bucket, scopes, keys, results, nowMs }: NewAttempts,
): Promise<Set<string>> {
  const { rows } = await client.query<{ result: string }>(
    `INSERT INTO sluice_attempts AS known (bucket, scope, key, result, at_ms)
       SELECT $1::text, *, $5::bigint FROM unnest($2::text[], $3::text[], $4::text[])
     ON CONFLICT (bucket, scope, key) DO UPDATE SET
       result = CASE WHEN known.at_ms > $6 THEN known.result ELSE excluded.result END,
       at_ms = CASE WHEN known.at_ms > $6 THEN least(known.at_ms, excluded.at_ms) ELSE excluded.at_ms END
     RETURNING result`,
    [bucket, scopes, keys, results, nowMs, nowMs - rememberedMs],
  )
  return new Set(rows.map(({ result }) => result))
}

/** The result of an earlier attempt. It is written again, as in `addAttempts`. */
export async function earlierResult(
  client: pg.ClientBase,
  { bucket, scope, key, nowMs }: { bucket: string; scope: string; key: string; nowMs: number },
): Promise<string | undefined> {
  const { rows } = await client.query<{ result: string }>(
    `UPDATE sluice_attempts SET at_ms = least(at_ms, $4) WHERE bucket = $1 AND scope = $2 AND key = $3 AND at_ms > $5 RETURNING result`,
    [bucket, scope, storedKey(key), nowMs, nowMs - rememberedMs],
  )
  return rows[0]?.result
}

/** Deletes attempts that are not remembered any more, at most `limit`. Returns how many. */
export async function forgetAttempts(
  client: pg.ClientBase,
  { nowMs, limit }: { nowMs: number; limit: number },
): Promise<number> {
  // A time in the future is that of a clock that was ahead.
  await client.query('UPDATE sluice_attempts SET at_ms = $1::bigint WHERE at_ms > $1::bigint + 60000', [nowMs])
  const { rowCount } = await client.query(
    `DELETE FROM sluice_attempts WHERE (bucket, scope, key) IN
       (SELECT bucket, scope, key FROM sluice_attempts WHERE at_ms <= $1 ORDER BY at_ms LIMIT $2)`,
    [nowMs - rememberedMs, limit],
  )
  return rowCount ?? 0
}
