import { randomUUID } from 'node:crypto'
import type { ContentType } from '../../schemas/content-types.js'
import type { Attempt, Attempts } from '../attempts.js'
import type { ContentStorage, NewContentType, NewEntry, TypeReference } from '../content-storage.js'
import { type Sql, sql } from '../sql.js'
import { toStoredText } from '../stored-text.js'
import { ContentReader } from './content-reader.js'
import { contentTypeOf, type TypeRow } from './content-rows.js'
import { insertion, type Rows, type Work } from './rows.js'

/** The type has changed since the fields of an entry were checked. Rolls the transaction back. */
class TypeChanged extends Error {
  // PostgreSQL takes an error named Error for one of the way to the database.
  override readonly name = 'TypeChanged'
}

/** Stores content. */
export class ContentTables extends ContentReader implements ContentStorage {
  readonly #attempts: Attempts

  constructor(rows: Rows, attempts: Attempts) {
    super(rows)
    this.#attempts = attempts
  }

  async addType(type: NewContentType): Promise<ContentType | undefined> {
    const { projectId, key, name, description, displayField, schema } = type
    const now = this.#now()
    const addition = insertion(this.types, {
      project: projectId,
      id: randomUUID(),
      ...this.rows.dialect.newRow('content_types'),
      key,
      name: toStoredText(name),
      description: toStoredText(description),
      display_field: displayField,
      schema: JSON.stringify(schema),
      schema_version: 1,
      is_active: true,
      created_at: now,
      updated_at: now,
    })
    return this.#changed(sql`${addition} ON CONFLICT DO NOTHING RETURNING *`)
  }

  async changeType(type: NewContentType): Promise<ContentType | undefined> {
    const { projectId, key, name, description, displayField, schema } = type
    return this.#changed(sql`UPDATE ${this.types} SET name = ${toStoredText(name)}, description = ${toStoredText(description)},
      display_field = ${displayField}, schema = ${JSON.stringify(schema)}, schema_version = schema_version + 1, updated_at = ${this.#now()}
      WHERE project = ${projectId} AND key = ${toStoredText(key)} AND ${this.rows.dialect.isActive} RETURNING *`)
  }

  async archiveType(reference: TypeReference): Promise<string | undefined> {
    const type = await this.findType(reference)
    if (type === undefined) return undefined
    const archived = await this.#changed(sql`UPDATE ${this.types} SET is_active = ${false}, updated_at = ${this.#now()}
      WHERE project = ${type.projectId} AND id = ${type.id} AND ${this.rows.dialect.isActive} RETURNING *`)
    return archived?.id
  }

  async addEntry(entry: NewEntry): Promise<string | undefined> {
    const id = randomUUID()
    try {
      return await this.rows.transaction(() => this.#addEntry(entry, id))
    } catch (error) {
      if (error instanceof TypeChanged) return undefined
      throw error
    }
  }

  findAttempt(attempt: Attempt): Promise<string | undefined> {
    return this.#attempts.find(attempt)
  }

  *#addEntry(entry: NewEntry, id: string): Work<string> {
    const { type, attempt, state, fields } = entry
    const { createdAt = this.#now(), updatedAt = createdAt, publishedAt = null } = entry
    const counting = attempt === undefined ? id : yield* this.#attempts.add(attempt, id)
    if (counting !== id) return counting
    const { dialect } = this.rows
    const [found] =
      (yield sql`SELECT schema_version FROM ${this.types} WHERE project = ${type.projectId} AND id = ${type.id}
      AND ${dialect.isActive} ${dialect.forShare}`) as Pick<TypeRow, 'schema_version'>[]
    if (found?.schema_version !== type.schemaVersion) throw new TypeChanged()
    yield insertion(this.entries, {
      ...dialect.entriesOf(type),
      id,
      ...dialect.newRow('entries'),
      schema_version: type.schemaVersion,
      state,
      fields: JSON.stringify(fields),
      created_at: createdAt,
      updated_at: updatedAt,
      published_at: publishedAt,
    })
    return id
  }

  #now(): string {
    return new Date(this.rows.dialect.nowMs()).toISOString()
  }

  async #changed(change: Sql): Promise<ContentType | undefined> {
    const [row] = await this.rows.run<TypeRow>(change)
    return row && contentTypeOf(row)
  }
}
