import { raw, type Sql, sql } from '../sql.js'
import { maxSessions, type SessionStorage, type StoredSession, sessionKeptMs, tokenKeptMs } from '../storage.js'
import { insertion, type Rows, type Work } from './rows.js'

export class SessionTable implements SessionStorage {
  readonly #rows: Rows
  readonly #sessions: Sql
  readonly #tokens: Sql
  readonly #identity: Sql

  constructor(rows: Rows) {
    this.#rows = rows
    this.#sessions = rows.dialect.table('page_sessions')
    this.#tokens = rows.dialect.table('page_tokens')
    this.#identity = rows.dialect.table('identity')
  }

  list(): Promise<StoredSession[]> {
    return this.#rows.all(
      sql`SELECT hash, key_id AS "keyId" FROM ${this.#sessions} WHERE NOT ${this.#isOlder(sessionKeptMs)}
        ORDER BY ${this.#rows.dialect.number}`,
    )
  }

  add(session: StoredSession, token?: string): Promise<string[] | undefined> {
    return this.#rows.transaction(() => this.#added(session, token))
  }

  async end(hash: string): Promise<void> {
    await this.#rows.run(sql`DELETE FROM ${this.#sessions} WHERE hash = ${hash}`)
  }

  async noteAddress(address: string): Promise<void> {
    await this.#rows.run(sql`UPDATE ${this.#identity} SET page = ${address}`)
  }

  async addToken(hash: string): Promise<string | null> {
    const { nowMs, madeMs } = this.#rows.dialect
    await this.#rows.run(sql`DELETE FROM ${this.#tokens} WHERE ${this.#isOlder(tokenKeptMs)}`)
    await this.#rows.run(insertion(this.#tokens, { hash, [madeMs]: nowMs() }))
    const [row] = await this.#rows.all<{ page: string | null }>(sql`SELECT page FROM ${this.#identity}`)
    return row!.page
  }

  *#added({ hash, keyId }: StoredSession, token: string | undefined): Work<string[] | undefined> {
    const { number, madeMs, newRow, nowMs } = this.#rows.dialect
    if (token !== undefined) {
      const used = yield sql`DELETE FROM ${this.#tokens} WHERE hash = ${token} AND NOT ${this.#isOlder(tokenKeptMs)}
        RETURNING hash`
      if (used.length === 0) return undefined
    }
    const ofKey = keyId === null ? sql`key_id IS NULL` : sql`key_id = ${keyId}`
    const others = sql`SELECT hash FROM ${this.#sessions} WHERE ${ofKey} ORDER BY ${number} DESC LIMIT ${maxSessions - 1}`
    const gone = yield sql`DELETE FROM ${this.#sessions}
      WHERE ${this.#isOlder(sessionKeptMs)} OR ${ofKey} AND hash NOT IN (${others}) RETURNING hash`
    yield insertion(this.#sessions, { ...newRow('page_sessions'), hash, key_id: keyId, [madeMs]: nowMs() })
    return (gone as StoredSession[]).map((each) => each.hash)
  }

  #isOlder(ms: number): Sql {
    const { madeMs, nowMs } = this.#rows.dialect
    return sql`${raw(madeMs)} <= ${nowMs() - ms}`
  }
}
