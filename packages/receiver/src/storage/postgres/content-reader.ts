import type { ContentType } from '../../schemas/content-types.js'
import type { Entry } from '../../schemas/entries.js'
import type { Paged } from '../../schemas/envelopes.js'
import { contentTypeOf, type EntryRow, entryOf, type TypeRow } from '../content-rows.js'
import type { ContentReading, EntryQuery, TypeQuery, TypeReference } from '../content-storage.js'
import { fitting, type Sized } from '../page-bytes.js'
import { toStoredText } from '../stored-text.js'
import type { Servers } from './servers.js'

interface NumberedRow extends Sized {
  readonly number: number
}

/** A condition on the rows of a list, and their order. */
interface List {
  readonly of:
    | 'sluice_content_types WHERE project = $1 AND is_active'
    | 'sluice_entries WHERE project = $1 AND type = $2'
  readonly values: readonly string[]
  readonly bytes: string
  readonly order: 'number' | 'number DESC'
  readonly offset: number
  readonly limit: number
}

/** Columns of a content type as a `TypeRow` has them. */
export const typeColumns = `id, project, key, name, description, display_field, schema, schema_version, is_active::int AS is_active,
  created_at, updated_at`

/** Reads content. A page first looks up the sizes of its items, and then reads only those that fit. */
export class ContentReader implements ContentReading {
  readonly #servers: Servers

  constructor(servers: Servers) {
    this.#servers = servers
  }

  async findType({ projectId, key, byId = true }: TypeReference): Promise<ContentType | undefined> {
    const find = (column: 'key' | 'id') =>
      this.#servers.read<TypeRow>(
        `SELECT ${typeColumns} FROM sluice_content_types WHERE project = $1 AND ${column} = $2 AND is_active`,
        [projectId, toStoredText(key)],
      )
    const [row] = await find('key')
    if (row !== undefined) return contentTypeOf(row)
    const [other] = byId ? await find('id') : []
    return other && contentTypeOf(other)
  }

  async findEntry({ type, id }: { readonly type: ContentType; readonly id: string }): Promise<Entry | undefined> {
    const [row] = await this.#servers.read<EntryRow>(
      'SELECT * FROM sluice_entries WHERE project = $1 AND type = $2 AND id = $3',
      [type.projectId, type.id, toStoredText(id)],
    )
    return row && entryOf(row, type)
  }

  async listTypes({ projectId, ...page }: TypeQuery): Promise<Paged<ContentType>> {
    const { rows, ...counted } = await this.#page<TypeRow>(typeColumns, {
      of: 'sluice_content_types WHERE project = $1 AND is_active',
      values: [projectId],
      bytes: 'octet_length(schema) + octet_length(description)',
      order: 'number',
      ...page,
    })
    return { ...counted, list: rows.map(contentTypeOf) }
  }

  async listEntries({ type, ...page }: EntryQuery): Promise<Paged<Entry>> {
    const { rows, ...counted } = await this.#page<EntryRow>('*', {
      of: 'sluice_entries WHERE project = $1 AND type = $2',
      values: [type.projectId, type.id],
      bytes: 'octet_length(fields)',
      order: 'number DESC',
      ...page,
    })
    return { ...counted, list: rows.map((row) => entryOf(row, type)) }
  }

  async #page<Row extends object>(columns: string, { of, values, bytes, order, offset, limit }: List) {
    const [counted] = await this.#servers.read<{ total: number }>(`SELECT count(*) AS total FROM ${of}`, values)
    const next = values.length + 1
    const found = await this.#servers.read<NumberedRow>(
      `SELECT number, ${bytes} AS bytes FROM ${of} ORDER BY ${order} LIMIT $${next} OFFSET $${next + 1}`,
      [...values, limit, offset],
    )
    const numbers = fitting(found).map(({ number }) => number)
    const rows = await this.#servers.read<Row>(
      `SELECT ${columns} FROM ${of} AND number = ANY($${next}) ORDER BY ${order}`,
      [...values, numbers],
    )
    const hasMore = numbers.length < found.length
    return { total: counted!.total, rows, ...(hasMore ? { next: offset + numbers.length + 1 } : {}) }
  }
}
