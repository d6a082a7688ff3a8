import { type SessionStorage, sessionKeptMs } from '../storage.js'
import type { Database } from './database.js'

export class PostgresSessions implements SessionStorage {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async hashes(): Promise<string[]> {
    const rows = await this.#database.servers.read<{ hash: string }>(
      'SELECT hash FROM sluice_page_sessions WHERE created_ms > $1',
      [this.#database.slot.nowMs() - sessionKeptMs],
    )
    return rows.map(({ hash }) => hash)
  }

  async add(hash: string): Promise<void> {
    const sql = 'INSERT INTO sluice_page_sessions (hash, created_ms) VALUES ($1, $2) ON CONFLICT DO NOTHING'
    await this.#database.transactions.run((client) => client.query(sql, [hash, this.#database.slot.nowMs()]))
  }
}
