import { isScope } from '../../keys/scopes.js'
import { raw, sql } from '../sql.js'
import type { KeyStorage, StoredKey } from '../storage.js'
import { fromStoredText, toStoredText } from '../stored-text.js'
import { insertion, type Rows } from './rows.js'

interface KeyRow extends Omit<StoredKey, 'scopes' | 'projects'> {
  readonly scopes: string
  readonly projects: string | null
}

export class KeyTable implements KeyStorage {
  readonly #rows: Rows

  constructor(rows: Rows) {
    this.#rows = rows
  }

  async list(): Promise<StoredKey[]> {
    const { number, madeMs } = this.#rows.dialect
    const rows = await this.#rows.all<KeyRow>(
      sql`SELECT id, hash, name, scopes, projects, ${raw(madeMs)} AS "createdAt", last_used AS "lastUsed" FROM ${this.#keys}
        ORDER BY ${raw(madeMs)}, ${number}`,
    )
    return rows.map(({ name, scopes, projects, ...key }) => ({
      ...key,
      name: fromStoredText(name),
      scopes: scopes.split(',').filter(isScope),
      projects: projects?.split(',') ?? null,
    }))
  }

  async add({ id, hash, name, scopes, projects, createdAt }: StoredKey): Promise<void> {
    const { dialect } = this.#rows
    const allowed = { scopes: scopes.join(','), projects: projects?.join(',') ?? null }
    const cells = { id, hash, name: toStoredText(name), ...allowed, [dialect.madeMs]: createdAt }
    await this.#rows.run(insertion(this.#keys, { ...dialect.newRow('keys'), ...cells }))
  }

  async revoke(id: string): Promise<boolean> {
    return (await this.#rows.run(sql`DELETE FROM ${this.#keys} WHERE id = ${toStoredText(id)} RETURNING id`)).length > 0
  }

  async used(ids: readonly string[], day: string): Promise<void> {
    const isUsed = this.#rows.dialect.isAnyOf('id', ids)
    await this.#rows.run(
      sql`UPDATE ${this.#keys} SET last_used = ${day} WHERE ${isUsed} AND last_used IS DISTINCT FROM ${day}`,
    )
  }

  get #keys() {
    return this.#rows.dialect.table('keys')
  }
}
