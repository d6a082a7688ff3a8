import { type Attempt, rememberedMs } from '../storage.js'
import type { Database, Statement } from './database.js'

/** How many of the oldest attempts are looked at when one is added: more than one, so that forgetting keeps up. */
const forgottenAtOnce = 2

// One that should have been forgotten already counts as new, and goes to the end of the queue.
const orRenew = `ON CONFLICT (scope, key) DO UPDATE SET number = (SELECT max(number) + 1 FROM attempts),
  result = excluded.result, at = excluded.at WHERE at <= ?4`

/** The idempotency keys of the last 24 hours, with what was answered. Its methods are called in a transaction of the caller's. */
export class Attempts {
  readonly #find: Statement
  readonly #add: Statement
  readonly #addAll: Statement
  readonly #newest: Statement
  readonly #after: Statement
  readonly #oldest: Statement
  readonly #forget: Statement

  constructor(database: Database) {
    this.#find = database.prepare('SELECT result FROM attempts WHERE scope = ? AND key = ? AND at > ?')
    this.#add = database.prepare(`INSERT INTO attempts (scope, at, key, result) VALUES (?1, ?2, ?3, ?5) ${orRenew}`)
    // Without a condition the parser would take ON CONFLICT for a part of the join.
    this.#addAll = database.prepare(
      `INSERT INTO attempts (scope, at, key) SELECT ?1, ?2, value FROM json_each(?3) WHERE true ${orRenew}`,
    )
    this.#newest = database.prepare('SELECT coalesce(max(number), 0) AS number FROM attempts')
    this.#after = database.prepare('SELECT key FROM attempts WHERE number > ?')
    this.#oldest = database.prepare('SELECT at FROM attempts ORDER BY number LIMIT 1')
    this.#forget = database.prepare(
      `DELETE FROM attempts WHERE number IN
         (SELECT number FROM (SELECT number, at FROM attempts ORDER BY number LIMIT ?) WHERE at <= ?)`,
    )
  }

  /** What was answered to an earlier attempt. */
  find({ scope, key }: Attempt): string | undefined {
    return (this.#find.get(scope, key, Date.now() - rememberedMs) as { result: string } | undefined)?.result
  }

  /** Remember a first attempt. */
  add({ scope, key }: Attempt, result: string): void {
    const now = Date.now()
    this.#add.run(scope, now, key, now - rememberedMs, result)
  }

  /** Remember many at once; which of the keys are those of first attempts. */
  addAll(scope: string, keys: readonly string[]): Set<string> {
    if (keys.length === 0) return new Set()
    const now = Date.now()
    const { number } = this.#newest.get() as { number: number }
    const { changes } = this.#addAll.run(scope, now, JSON.stringify(keys), now - rememberedMs)
    if (Number(changes) === keys.length) return new Set(keys)
    return new Set((this.#after.all(number) as { key: string }[]).map(({ key }) => key))
  }

  /** Forget what is old enough, a little at a time. To be called before as many as `added` are added. */
  forget(added: number): void {
    const past = Date.now() - rememberedMs
    const oldest = this.#oldest.get() as { at: number } | undefined
    if (oldest !== undefined && oldest.at <= past) this.#forget.run(added * forgottenAtOnce, past)
  }
}
