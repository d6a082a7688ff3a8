import type { KeyStorage } from '../storage.js'
import type { Database, Statement } from './database.js'

export class SqliteKeys implements KeyStorage {
  readonly #all: Statement
  readonly #add: Statement
  readonly #keptMs: number

  /** @param keptMs a key counts for this long */
  constructor(
    database: Database,
    { table, keptMs }: { readonly table: 'keys' | 'page_sessions'; readonly keptMs: number },
  ) {
    this.#all = database.prepare(`SELECT hash FROM ${table} WHERE created_at > ?`)
    this.#add = database.prepare(`INSERT INTO ${table} (hash, created_at) VALUES (?, ?)`)
    this.#keptMs = keptMs
  }

  async hashes(): Promise<string[]> {
    return (this.#all.all(Date.now() - this.#keptMs) as { hash: string }[]).map(({ hash }) => hash)
  }

  async add(hash: string): Promise<void> {
    this.#add.run(hash, Date.now())
  }
}
