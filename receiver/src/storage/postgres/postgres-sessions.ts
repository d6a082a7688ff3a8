import { type SessionStorage, sessionKeptMs } from '../storage.js'
import type { Servers } from './servers.js'
import type { Transactions } from './transactions.js'

export class PostgresSessions implements SessionStorage {
  readonly #servers: Servers
  readonly #transactions: Transactions
  readonly #nowMs: () => number

  constructor({
    servers,
    transactions,
    nowMs,
  }: {
    readonly servers: Servers
    readonly transactions: Transactions
    readonly nowMs: () => number
  }) {
    this.#servers = servers
    this.#transactions = transactions
    this.#nowMs = nowMs
  }

  async hashes(): Promise<string[]> {
    const rows = await this.#servers.read<{ hash: string }>(
      'SELECT hash FROM sluice_page_sessions WHERE created_ms > $1',
      [this.#nowMs() - sessionKeptMs],
    )
    return rows.map(({ hash }) => hash)
  }

  async add(hash: string): Promise<void> {
    const sql = 'INSERT INTO sluice_page_sessions (hash, created_ms) VALUES ($1, $2) ON CONFLICT DO NOTHING'
    await this.#transactions.run((client) => client.query(sql, [hash, this.#nowMs()]))
  }
}
