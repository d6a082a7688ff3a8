import { type Attempt, type Attempts, rememberedMs } from '../attempts.js'
import { raw, sql } from '../sql.js'
import { steadyTime } from '../steady-time.js'
import type { Work } from '../tables/rows.js'
import type { Database, Statement } from './database.js'

/** Each added attempt checks this many of the oldest. It is more than one so that deletion keeps up. */
const forgottenAtOnce = 2

// An expired attempt counts as new and moves to the end of the queue.
const orRenew = `ON CONFLICT (scope, key) DO UPDATE SET number = (SELECT max(number) + 1 FROM attempts),
  result = excluded.result, at = excluded.at WHERE at <=`

/**
 * The idempotency keys of the last 24 hours with their results. The caller provides the transaction.
 *
 * Time is that of `steadyTime`. A row from the future, of a run whose clock was ahead, is known; once it is the oldest, it counts as of now.
 */
export class SqliteAttempts implements Attempts {
  readonly #now: () => number
  readonly #find: Statement
  readonly #addAll: Statement
  readonly #newest: Statement
  readonly #after: Statement
  readonly #oldest: Statement
  readonly #forget: Statement
  readonly #bringBack: Statement

  /** @param now time since 1970, in ms */
  constructor(database: Database, now: () => number = steadyTime()) {
    this.#now = now
    this.#find = database.prepare('SELECT result FROM attempts WHERE scope = ? AND key = ? AND at > ?')
    // Without WHERE the parser reads ON CONFLICT as a part of the join.
    this.#addAll = database.prepare(
      `INSERT INTO attempts (scope, at, key) SELECT ?1, ?2, value FROM json_each(?3) WHERE true ${orRenew} ?4`,
    )
    this.#newest = database.prepare('SELECT coalesce(max(number), 0) AS number FROM attempts')
    this.#after = database.prepare('SELECT key FROM attempts WHERE number > ?')
    this.#oldest = database.prepare('SELECT at FROM attempts ORDER BY number LIMIT 1')
    this.#bringBack = database.prepare('UPDATE attempts SET at = ?1 WHERE at > ?1')
    this.#forget = database.prepare(
      `DELETE FROM attempts WHERE number IN
         (SELECT number FROM (SELECT number, at FROM attempts ORDER BY number LIMIT ?) WHERE at <= ?)`,
    )
  }

  async find(attempt: Attempt): Promise<string | undefined> {
    return this.#known(attempt)
  }

  *add(attempt: Attempt, result: string): Work<string> {
    const known = this.#known(attempt)
    if (known !== undefined) return known
    this.forget(1)
    const { scope, key } = attempt
    const now = this.#now()
    yield sql`INSERT INTO attempts (scope, at, key, result) VALUES (${scope}, ${now}, ${key}, ${result}) ${raw(orRenew)} ${now - rememberedMs}`
    return result
  }

  /** Stores many attempts at once. Returns the keys that are new. */
  addAll(scope: string, keys: readonly string[]): Set<string> {
    if (keys.length === 0) return new Set()
    const now = this.#now()
    const { number } = this.#newest.get() as { number: number }
    const { changes } = this.#addAll.run(scope, now, JSON.stringify(keys), now - rememberedMs)
    if (Number(changes) === keys.length) return new Set(keys)
    return new Set((this.#after.all(number) as { key: string }[]).map(({ key }) => key))
  }

  #known({ scope, key }: Attempt): string | undefined {
    return (this.#find.get(scope, key, this.#now() - rememberedMs) as { result: string } | undefined)?.result
  }

  /** Deletes some expired attempts. Callers call it before they add `added` attempts. */
  forget(added: number): void {
    const now = this.#now()
    const past = now - rememberedMs
    const oldest = this.#oldest.get() as { at: number } | undefined
    if (oldest === undefined) return
    if (oldest.at > now) this.#bringBack.run(now)
    if (oldest.at <= past) this.#forget.run(added * forgottenAtOnce, past)
  }
}
