import type { ContentType } from '../../schemas/content-types.js'
import type { Entry } from '../../schemas/entries.js'
import type { Paged } from '../../schemas/envelopes.js'
import { contentTypeOf, type EntryRow, entryOf, type TypeRow } from '../content-rows.js'
import type { ContentReading, EntryQuery, TypeQuery, TypeReference } from '../content-storage.js'
import { fitting, type Sized } from '../page-bytes.js'
import { toStoredText } from '../stored-text.js'
import type { Database } from './database.js'

interface NumberedRow extends Sized {
  readonly number: number
}

/** Reads content. A page first looks up the sizes of its items, and then reads only those that fit. */
export class ContentReader implements ContentReading {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async findType(reference: TypeReference): Promise<ContentType | undefined> {
    return this.typeNow(reference)
  }

  /** Like `findType`, but synchronous, for use inside a transaction. */
  typeNow({ projectId, key, byId = true }: TypeReference): ContentType | undefined {
    const active = 'SELECT * FROM content_types WHERE project = ? AND is_active = 1'
    const find = (column: 'key' | 'id') =>
      this.#database.prepare(`${active} AND ${column} = ?`).get(projectId, toStoredText(key)) as TypeRow | undefined
    const row = find('key') ?? (byId ? find('id') : undefined)
    return row === undefined ? undefined : contentTypeOf(row)
  }

  async findEntry({ type, id }: { readonly type: ContentType; readonly id: string }): Promise<Entry | undefined> {
    const one = this.#database.prepare('SELECT * FROM entries WHERE type = ? AND id = ?')
    const row = one.get(type.id, toStoredText(id)) as EntryRow | undefined
    return row === undefined ? undefined : entryOf(row, type)
  }

  async listTypes({ projectId, offset, limit }: TypeQuery): Promise<Paged<ContentType>> {
    const { total, ...page } = this.#page({
      of: 'content_types WHERE project = ? AND is_active = 1',
      value: projectId,
      bytes: 'octet_length(schema) + octet_length(description)',
      order: 'number',
      paging: { offset, limit },
    })
    const rows = this.#rows<TypeRow>('content_types', page.numbers)
    return { total, list: rows.map(contentTypeOf), ...page.next }
  }

  async listEntries({ type, offset, limit }: EntryQuery): Promise<Paged<Entry>> {
    const { total, ...page } = this.#page({
      of: 'entries WHERE type = ?',
      value: type.id,
      bytes: 'octet_length(fields)',
      order: 'number DESC',
      paging: { offset, limit },
    })
    const rows = this.#rows<EntryRow>('entries', page.numbers)
    return { total, list: rows.map((row) => entryOf(row, type)), ...page.next }
  }

  #page({
    of,
    value,
    bytes,
    order,
    paging: { offset, limit },
  }: {
    readonly of: string
    readonly value: string
    readonly bytes: string
    readonly order: string
    readonly paging: { readonly offset: number; readonly limit: number }
  }) {
    const { total } = this.#database.prepare(`SELECT count(*) AS total FROM ${of}`).get(value) as { total: number }
    const found = this.#database
      .prepare(`SELECT number, ${bytes} AS bytes FROM ${of} ORDER BY ${order} LIMIT ? OFFSET ?`)
      .all(value, limit, offset) as NumberedRow[]
    const numbers = fitting(found).map(({ number }) => number)
    return { total, numbers, next: numbers.length < found.length ? { next: offset + numbers.length + 1 } : {} }
  }

  #rows<Row>(table: 'content_types' | 'entries', numbers: readonly number[]): Row[] {
    const one = this.#database.prepare(`SELECT * FROM ${table} WHERE number = ?`)
    return numbers.map((number) => one.get(number) as Row)
  }
}
