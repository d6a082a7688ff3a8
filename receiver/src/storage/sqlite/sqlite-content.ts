import { randomUUID } from 'node:crypto'
import type { ContentType } from '../../schemas/content-types.js'
import type { Entry } from '../../schemas/entries.js'
import type { Paged } from '../../schemas/envelopes.js'
import type { ContentStorage, NewContentType, NewEntry, Page, TypeReference } from '../content-storage.js'
import type { Attempt } from '../storage.js'
import type { Attempts } from './attempts.js'
import { contentTypeOf, type EntryRow, entryOf, type TypeRow } from './content-rows.js'
import type { Database } from './open-sqlite.js'
import { toSqlText } from './sql-text.js'
import { inTransaction } from './transaction.js'

/** Every change is a transaction of its own: content is written by people, not by the thousand a second. */
export class SqliteContent implements ContentStorage {
  readonly #database: Database
  readonly #attempts: Attempts

  constructor(database: Database, attempts: Attempts) {
    this.#database = database
    this.#attempts = attempts
  }

  async findType(reference: TypeReference): Promise<ContentType | undefined> {
    return this.#findType(reference)
  }

  async listTypes({ projectId, offset, limit }: Page & { readonly projectId: string }): Promise<Paged<ContentType>> {
    const active = 'FROM content_types WHERE project = ? AND is_active = 1'
    const { total } = this.#get(`SELECT count(*) AS total ${active}`, projectId) as { total: number }
    const rows = this.#all(`SELECT * ${active} ORDER BY number LIMIT ? OFFSET ?`, projectId, limit, offset) as TypeRow[]
    return { total, list: rows.map(contentTypeOf) }
  }

  async addType(type: NewContentType): Promise<ContentType | undefined> {
    const { projectId, key, name, description, displayField, schema } = type
    const now = new Date().toISOString()
    const [row] = this.#all(
      `INSERT INTO content_types (id, project, key, name, description, display_field, schema, schema_version, is_active, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, 1, 1, ?, ?) ON CONFLICT DO NOTHING RETURNING *`,
      ...[randomUUID(), projectId, key, toSqlText(name), toSqlText(description), displayField],
      ...[JSON.stringify(schema), now, now],
    )
    return row === undefined ? undefined : contentTypeOf(row as TypeRow)
  }

  async changeType({
    projectId,
    key,
    name,
    description,
    displayField,
    schema,
  }: NewContentType): Promise<ContentType | undefined> {
    const [row] = this.#all(
      `UPDATE content_types SET name = ?, description = ?, display_field = ?, schema = ?, schema_version = schema_version + 1, updated_at = ?
       WHERE project = ? AND key = ? AND is_active = 1 RETURNING *`,
      ...[toSqlText(name), toSqlText(description), displayField, JSON.stringify(schema), new Date().toISOString()],
      ...[projectId, toSqlText(key)],
    )
    return row === undefined ? undefined : contentTypeOf(row as TypeRow)
  }

  async archiveType(reference: TypeReference): Promise<string | undefined> {
    return inTransaction(this.#database, () => {
      const id = this.#findType(reference)?.id
      if (id === undefined) return undefined
      const now = new Date().toISOString()
      this.#database.prepare('UPDATE content_types SET is_active = 0, updated_at = ? WHERE id = ?').run(now, id)
      return id
    })
  }

  async addEntry(entry: NewEntry): Promise<string | undefined> {
    const { type, attempt, state, fields } = entry
    const { createdAt = new Date().toISOString(), updatedAt = createdAt, publishedAt } = entry
    return inTransaction(this.#database, () => {
      const earlier = attempt && this.#attempts.find(attempt)
      if (earlier !== undefined) return earlier
      const now = this.#findType(type)
      if (now?.id !== type.id || now.schemaVersion !== type.schemaVersion) return undefined
      const id = randomUUID()
      this.#database
        .prepare(
          `INSERT INTO entries (id, type, schema_version, state, fields, created_at, updated_at, published_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(id, type.id, type.schemaVersion, state, JSON.stringify(fields), createdAt, updatedAt, publishedAt ?? null)
      if (attempt !== undefined) {
        this.#attempts.forget(1)
        this.#attempts.add(attempt, id)
      }
      return id
    })
  }

  async findAttempt(attempt: Attempt): Promise<string | undefined> {
    return this.#attempts.find(attempt)
  }

  async listEntries({ type, offset, limit }: Page & { readonly type: ContentType }): Promise<Paged<Entry>> {
    const { total } = this.#get('SELECT count(*) AS total FROM entries WHERE type = ?', type.id) as { total: number }
    const rows = this.#all(
      'SELECT * FROM entries WHERE type = ? ORDER BY number DESC LIMIT ? OFFSET ?',
      type.id,
      limit,
      offset,
    )
    return { total, list: (rows as EntryRow[]).map((row) => entryOf(row, type)) }
  }

  async findEntry({ type, id }: { readonly type: ContentType; readonly id: string }): Promise<Entry | undefined> {
    const row = this.#get('SELECT * FROM entries WHERE type = ? AND id = ?', type.id, toSqlText(id)) as
      | EntryRow
      | undefined
    return row === undefined ? undefined : entryOf(row, type)
  }

  #findType({ projectId, key, byId = true }: TypeReference): ContentType | undefined {
    const active = 'SELECT * FROM content_types WHERE project = ? AND is_active = 1'
    const row =
      this.#get(`${active} AND key = ?`, projectId, toSqlText(key)) ??
      (byId ? this.#get(`${active} AND id = ?`, projectId, toSqlText(key)) : undefined)
    return row === undefined ? undefined : contentTypeOf(row as TypeRow)
  }

  #get(sql: string, ...values: (string | number)[]): unknown {
    return this.#database.prepare(sql).get(...values)
  }

  #all(sql: string, ...values: (string | number)[]): unknown[] {
    return this.#database.prepare(sql).all(...values)
  }
}
