import { isScope } from '../../keys/scopes.js'
import type { KeyStorage, StoredKey } from '../storage.js'
import { fromStoredText, toStoredText } from '../stored-text.js'
import type { Database, Statement } from './database.js'

interface KeyRow {
  readonly id: string
  readonly hash: string
  readonly name: string
  readonly scopes: string
  readonly created_at: number
  readonly last_used: string | null
}

export class SqliteKeys implements KeyStorage {
  readonly #list: Statement
  readonly #add: Statement
  readonly #revoke: Statement
  readonly #used: Statement

  constructor(database: Database) {
    this.#list = database.prepare(
      'SELECT id, hash, name, scopes, created_at, last_used FROM keys ORDER BY created_at, rowid',
    )
    this.#add = database.prepare('INSERT INTO keys (id, hash, name, scopes, created_at) VALUES (?, ?, ?, ?, ?)')
    this.#revoke = database.prepare('DELETE FROM keys WHERE id = ?')
    this.#used = database.prepare('UPDATE keys SET last_used = ? WHERE id IN (SELECT value FROM json_each(?))')
  }

  async list(): Promise<StoredKey[]> {
    return (this.#list.all() as KeyRow[]).map(({ id, hash, name, scopes, created_at, last_used }) => ({
      id,
      hash,
      name: fromStoredText(name),
      scopes: scopes.split(',').filter(isScope),
      createdAt: created_at,
      lastUsed: last_used,
    }))
  }

  async add({ id, hash, name, scopes, createdAt }: StoredKey): Promise<void> {
    this.#add.run(id, hash, toStoredText(name), scopes.join(','), createdAt)
  }

  async revoke(id: string): Promise<boolean> {
    return Number(this.#revoke.run(toStoredText(id)).changes) > 0
  }

  async used(ids: readonly string[], day: string): Promise<void> {
    this.#used.run(day, JSON.stringify(ids))
  }
}
