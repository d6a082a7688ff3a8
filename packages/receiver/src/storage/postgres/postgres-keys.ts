import { isScope } from '../../keys/scopes.js'
import type { KeyStorage, StoredKey } from '../storage.js'
import { fromStoredText, toStoredText } from '../stored-text.js'
import type { Database } from './database.js'

interface KeyRow {
  readonly id: string
  readonly hash: string
  readonly name: string
  readonly scopes: string
  readonly createdAt: number
  readonly lastUsed: string | null
}

export class PostgresKeys implements KeyStorage {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async list(): Promise<StoredKey[]> {
    const rows = await this.#database.servers.read<KeyRow>(
      'SELECT id, hash, name, scopes, created_ms AS "createdAt", last_used AS "lastUsed" FROM sluice_keys ORDER BY created_ms, number',
    )
    return rows.map(({ name, scopes, ...key }) => ({
      ...key,
      name: fromStoredText(name),
      scopes: scopes.split(',').filter(isScope),
    }))
  }

  async add({ id, hash, name, scopes, createdAt }: StoredKey): Promise<void> {
    await this.#run(
      'INSERT INTO sluice_keys (id, number, hash, name, scopes, created_ms) VALUES ($1, $2, $3, $4, $5, $6)',
      [id, this.#database.slot.takeId(), hash, toStoredText(name), scopes.join(','), createdAt],
    )
  }

  async revoke(id: string): Promise<boolean> {
    return (await this.#run('DELETE FROM sluice_keys WHERE id = $1', [toStoredText(id)])) > 0
  }

  async used(ids: readonly string[], day: string): Promise<void> {
    await this.#run('UPDATE sluice_keys SET last_used = $1 WHERE id = ANY($2) AND last_used IS DISTINCT FROM $1', [
      day,
      ids,
    ])
  }

  /** Returns the number of rows that the statement has changed. */
  #run(sql: string, values: readonly unknown[]): Promise<number> {
    return this.#database.transactions.run(async (client) => (await client.query(sql, [...values])).rowCount ?? 0)
  }
}
