import { type Attempt, rememberedMs } from '../storage.js'
import type { Database, Statement } from './open-sqlite.js'

/** How many of the oldest attempts are looked at when one is added: more than one, so that forgetting keeps up. */
const forgottenAtOnce = 2

/** The idempotency keys of the last 24 hours, with what was answered. Its methods are called in a transaction of the caller's. */
export class Attempts {
  readonly #find: Statement
  readonly #add: Statement
  readonly #forget: Statement

  constructor(database: Database) {
    this.#find = database.prepare('SELECT result FROM attempts WHERE scope = ? AND key = ? AND at > ?')
    // One that should have been forgotten already counts as new, and goes to the end of the queue.
    this.#add = database.prepare(
      `INSERT INTO attempts (scope, key, result, at) VALUES (?, ?, ?, ?) ON CONFLICT (scope, key) DO UPDATE
         SET number = (SELECT max(number) + 1 FROM attempts), result = excluded.result, at = excluded.at WHERE at <= ?`,
    )
    this.#forget = database.prepare(
      `DELETE FROM attempts WHERE number IN
         (SELECT number FROM (SELECT number, at FROM attempts ORDER BY number LIMIT ?) WHERE at <= ?)`,
    )
  }

  /** What was answered to an earlier attempt. */
  find({ scope, key }: Attempt): string | undefined {
    return (this.#find.get(scope, key, Date.now() - rememberedMs) as { result: string } | undefined)?.result
  }

  /** Whether it is the first attempt. */
  add({ scope, key }: Attempt, result: string | null = null): boolean {
    const now = Date.now()
    return Number(this.#add.run(scope, key, result, now, now - rememberedMs).changes) === 1
  }

  /** Forget what is old enough, a little at a time. To be called before as many as `added` are added. */
  forget(added: number): void {
    this.#forget.run(added * forgottenAtOnce, Date.now() - rememberedMs)
  }
}
