import type { KeyStorage } from '../storage.js'
import type { Database, Statement } from './database.js'

export class SqliteKeys implements KeyStorage {
  readonly #all: Statement
  readonly #add: Statement

  constructor(database: Database) {
    this.#all = database.prepare('SELECT hash FROM keys')
    this.#add = database.prepare('INSERT INTO keys (hash, created_at) VALUES (?, ?)')
  }

  async hashes(): Promise<string[]> {
    return (this.#all.all() as { hash: string }[]).map(({ hash }) => hash)
  }

  async add(hash: string): Promise<void> {
    this.#add.run(hash, Date.now())
  }
}
