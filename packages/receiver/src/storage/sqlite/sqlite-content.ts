import { randomUUID } from 'node:crypto'
import type { ContentType } from '../../schemas/content-types.js'
import type { Entry } from '../../schemas/entries.js'
import type { Paged } from '../../schemas/envelopes.js'
import type { Attempt } from '../attempts.js'
import { contentTypeOf, type TypeRow } from '../content-rows.js'
import type {
  ContentStorage,
  EntryQuery,
  NewContentType,
  NewEntry,
  TypeQuery,
  TypeReference,
} from '../content-storage.js'
import { toStoredText } from '../stored-text.js'
import type { Attempts } from './attempts.js'
import { ContentReader } from './content-reader.js'
import { type Database, inTransaction } from './database.js'

/** Stores content. Each change is its own transaction: people write content, not a thousand times a second. */
export class SqliteContent implements ContentStorage {
  readonly #database: Database
  readonly #attempts: Attempts
  readonly #reader: ContentReader

  constructor(database: Database, attempts: Attempts) {
    this.#database = database
    this.#attempts = attempts
    this.#reader = new ContentReader(database)
  }

  findType(reference: TypeReference): Promise<ContentType | undefined> {
    return this.#reader.findType(reference)
  }

  listTypes(query: TypeQuery): Promise<Paged<ContentType>> {
    return this.#reader.listTypes(query)
  }

  async addType(type: NewContentType): Promise<ContentType | undefined> {
    const { projectId, key, name, description, displayField, schema } = type
    const now = new Date().toISOString()
    const [row] = this.#all(
      `INSERT INTO content_types (id, project, key, name, description, display_field, schema, schema_version, is_active, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, 1, 1, ?, ?) ON CONFLICT DO NOTHING RETURNING *`,
      ...[randomUUID(), projectId, key, toStoredText(name), toStoredText(description), displayField],
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
      ...[
        toStoredText(name),
        toStoredText(description),
        displayField,
        JSON.stringify(schema),
        new Date().toISOString(),
      ],
      ...[projectId, toStoredText(key)],
    )
    return row === undefined ? undefined : contentTypeOf(row as TypeRow)
  }

  async archiveType(reference: TypeReference): Promise<string | undefined> {
    return inTransaction(this.#database, () => {
      const id = this.#reader.typeNow(reference)?.id
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
      const now = this.#reader.typeNow(type)
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

  listEntries(query: EntryQuery): Promise<Paged<Entry>> {
    return this.#reader.listEntries(query)
  }

  findEntry(query: { readonly type: ContentType; readonly id: string }): Promise<Entry | undefined> {
    return this.#reader.findEntry(query)
  }

  #all(sql: string, ...values: (string | number)[]): unknown[] {
    return this.#database.prepare(sql).all(...values)
  }
}
