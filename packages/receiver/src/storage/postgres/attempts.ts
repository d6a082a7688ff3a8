import { createHash } from 'node:crypto'
import type pg from 'pg'
import { type Attempt, type Attempts, rememberedMs } from '../attempts.js'
import { type Sql, sql } from '../sql.js'
import type { Rows, Work } from '../tables/rows.js'
import { numbered } from './postgres-rows.js'

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

/** The attempts at entries stand beside those of records. The scope of such an attempt, which has the id of a type, stands in place of a bucket. */
const contentScope = 'content'

/** The attempts at entries. A row that exists is written again: its commit then waits for the standbys as that of a new one does. */
export class PostgresAttempts implements Attempts {
  readonly #rows: Rows

  constructor(rows: Rows) {
    this.#rows = rows
  }

  async find({ scope, key }: Attempt): Promise<string | undefined> {
    const nowMs = this.#rows.dialect.nowMs()
    const [row] = await this.#rows.run<ResultRow>(
      sql`UPDATE sluice_attempts SET at_ms = least(at_ms, ${nowMs})
        WHERE bucket = ${scope} AND scope = ${contentScope} AND key = ${storedKey(key)} AND at_ms > ${nowMs - rememberedMs} RETURNING result`,
    )
    return row?.result
  }

  *add({ scope, key }: Attempt, result: string): Work<string> {
    const one = { bucket: scope, scopes: [contentScope], keys: [storedKey(key)], results: [result] }
    const [row] = (yield addition({ ...one, nowMs: this.#rows.dialect.nowMs() })) as ResultRow[]
    return row!.result
  }
}

interface ResultRow {
  readonly result: string
}

/**
 * Stores attempts. Returns the results that count, in any order: those of first attempts, and the earlier ones of attempts that are known.
 *
 * Callers sort the attempts: two transactions then meet the same rows in the same order, and none waits for a row of the other that waits for its own.
 */
export async function addAttempts(client: pg.ClientBase, attempts: NewAttempts): Promise<Set<string>> {
  const { rows } = await client.query<ResultRow>({ name: 'add-attempts', ...numbered(addition(attempts)) })
  return new Set(rows.map(({ result }) => result))
}

function addition({ bucket, scopes, keys, results, nowMs }: NewAttempts): Sql {
  const past = nowMs - rememberedMs
  return sql`INSERT INTO sluice_attempts AS known (bucket, scope, key, result, at_ms)
    SELECT ${bucket}::text, *, ${nowMs}::bigint FROM unnest(${scopes}::text[], ${keys}::text[], ${results}::text[])
    ON CONFLICT (bucket, scope, key) DO UPDATE SET
      result = CASE WHEN known.at_ms > ${past} THEN known.result ELSE excluded.result END,
      at_ms = CASE WHEN known.at_ms > ${past} THEN least(known.at_ms, excluded.at_ms) ELSE excluded.at_ms END
    RETURNING result`
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
