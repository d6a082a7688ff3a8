import { raw, type Sql, sql } from '../sql.js'
import { type SessionStorage, sessionKeptMs } from '../storage.js'
import { insertion, type Rows } from './rows.js'

export class SessionTable implements SessionStorage {
  readonly #rows: Rows
  readonly #sessions: Sql

  constructor(rows: Rows) {
    this.#rows = rows
    this.#sessions = rows.dialect.table('page_sessions')
  }

  async hashes(): Promise<string[]> {
    const { nowMs, madeMs } = this.#rows.dialect
    const rows = await this.#rows.all<{ hash: string }>(
      sql`SELECT hash FROM ${this.#sessions} WHERE ${raw(madeMs)} > ${nowMs() - sessionKeptMs}`,
    )
    return rows.map(({ hash }) => hash)
  }

  async add(hash: string): Promise<void> {
    const { nowMs, madeMs } = this.#rows.dialect
    await this.#rows.run(sql`${insertion(this.#sessions, { hash, [madeMs]: nowMs() })} ON CONFLICT DO NOTHING`)
  }
}
