import { type SessionStorage, sessionKeptMs } from '../storage.js'
import type { Database, Statement } from './database.js'

export class SqliteSessions implements SessionStorage {
  readonly #all: Statement
  readonly #add: Statement

  constructor(database: Database) {
    this.#all = database.prepare('SELECT hash FROM page_sessions WHERE created_at > ?')
    this.#add = database.prepare('INSERT INTO page_sessions (hash, created_at) VALUES (?, ?)')
  }

  async hashes(): Promise<string[]> {
    return (this.#all.all(Date.now() - sessionKeptMs) as { hash: string }[]).map(({ hash }) => hash)
  }

  async add(hash: string): Promise<void> {
    this.#add.run(hash, Date.now())
  }
}
