import { randomUUID } from 'node:crypto'
import type { ContentType } from '../../schemas/content-types.js'
import type { Attempt } from '../attempts.js'
import { contentTypeOf, type TypeRow } from '../content-rows.js'
import type { ContentStorage, NewContentType, NewEntry, TypeReference } from '../content-storage.js'
import { toStoredText } from '../stored-text.js'
import { addAttempts, earlierResult, storedKey } from './attempts.js'
import { ContentReader, typeColumns } from './content-reader.js'
import type { Database } from './database.js'

/** The type has changed since the fields of an entry were checked. Rolls the transaction back. */
class TypeChanged extends Error {
  // An error named Error is one of the way to the database.
  override readonly name = 'TypeChanged'
}

/** Stores content. */
export class PostgresContent extends ContentReader implements ContentStorage {
  readonly #database: Database

  constructor(database: Database) {
    super(database.servers)
    this.#database = database
  }

  async addType(type: NewContentType): Promise<ContentType | undefined> {
    const { projectId, key, name, description, displayField, schema } = type
    const now = new Date(this.#database.slot.nowMs()).toISOString()
    const row = await this.#changed(
      `INSERT INTO sluice_content_types
         (project, id, number, key, name, description, display_field, schema, schema_version, is_active, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, true, $9, $9)
       ON CONFLICT (project, key) WHERE is_active DO NOTHING RETURNING ${typeColumns}`,
      [
        projectId,
        randomUUID(),
        this.#database.slot.takeId(),
        key,
        toStoredText(name),
        toStoredText(description),
        displayField,
        JSON.stringify(schema),
        now,
      ],
    )
    return row && contentTypeOf(row)
  }

  async changeType(type: NewContentType): Promise<ContentType | undefined> {
    const { projectId, key, name, description, displayField, schema } = type
    const now = new Date(this.#database.slot.nowMs()).toISOString()
    const row = await this.#changed(
      `UPDATE sluice_content_types SET name = $3, description = $4, display_field = $5, schema = $6, schema_version = schema_version + 1,
         updated_at = $7 WHERE project = $1 AND key = $2 AND is_active RETURNING ${typeColumns}`,
      [
        projectId,
        toStoredText(key),
        toStoredText(name),
        toStoredText(description),
        displayField,
        JSON.stringify(schema),
        now,
      ],
    )
    return row && contentTypeOf(row)
  }

  async archiveType(reference: TypeReference): Promise<string | undefined> {
    const type = await this.findType(reference)
    if (type === undefined) return undefined
    const row = await this.#changed(
      `UPDATE sluice_content_types SET is_active = false, updated_at = $3 WHERE project = $1 AND id = $2 AND is_active RETURNING ${typeColumns}`,
      [type.projectId, type.id, new Date(this.#database.slot.nowMs()).toISOString()],
    )
    return row?.id
  }

  async addEntry(entry: NewEntry): Promise<string | undefined> {
    const { type, attempt, state, fields } = entry
    const nowMs = this.#database.slot.nowMs()
    const { createdAt = new Date(nowMs).toISOString(), updatedAt = createdAt, publishedAt } = entry
    const id = randomUUID()
    try {
      return await this.#database.transactions.run(async (client) => {
        if (attempt !== undefined) {
          const one = {
            bucket: attempt.scope,
            scopes: [contentScope],
            keys: [storedKey(attempt.key)],
            results: [id],
          }
          const [result] = await addAttempts(client, { ...one, nowMs })
          if (result !== id) return result
        }
        const { rows } = await client.query<{ schema_version: number }>(
          'SELECT schema_version FROM sluice_content_types WHERE project = $1 AND id = $2 AND is_active FOR SHARE',
          [type.projectId, type.id],
        )
        if (rows[0]?.schema_version !== type.schemaVersion) throw new TypeChanged()
        await client.query(
          `INSERT INTO sluice_entries
             (project, id, number, type, schema_version, state, fields, created_at, updated_at, published_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
          [
            type.projectId,
            id,
            this.#database.slot.takeId(),
            type.id,
            type.schemaVersion,
            state,
            JSON.stringify(fields),
            createdAt,
            updatedAt,
            publishedAt ?? null,
          ],
        )
        return id
      })
    } catch (error) {
      if (error instanceof TypeChanged) return undefined
      throw error
    }
  }

  findAttempt({ scope, key }: Attempt): Promise<string | undefined> {
    const nowMs = this.#database.slot.nowMs()
    return this.#database.transactions.run((client) =>
      earlierResult(client, { bucket: scope, scope: contentScope, key, nowMs }),
    )
  }

  async #changed(sql: string, values: readonly unknown[]): Promise<TypeRow | undefined> {
    const { rows } = await this.#database.transactions.run((client) => client.query<TypeRow>(sql, [...values]))
    return rows[0]
  }
}

/** The attempts at entries stand beside those of records. The scope of such an attempt, which has the id of a type, stands in place of a bucket. */
const contentScope = 'content'
