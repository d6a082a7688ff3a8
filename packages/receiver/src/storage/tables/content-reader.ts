import type { ContentType } from '../../schemas/content-types.js'
import type { Entry } from '../../schemas/entries.js'
import type { Paged } from '../../schemas/envelopes.js'
import type { ContentReading, EntryQuery, Page, TypeQuery, TypeReference } from '../content-storage.js'
import { fitting, type Sized } from '../page-bytes.js'
import { raw, type Sql, sql } from '../sql.js'
import { toStoredText } from '../stored-text.js'
import { contentTypeOf, type EntryRow, entryOf, type TypeRow } from './content-rows.js'
import { hasCells, type Rows } from './rows.js'

interface NumberedRow extends Sized {
  readonly number: number
}

/** A list of rows. */
interface List {
  /** Table and condition, as they stand after FROM. */
  readonly of: Sql
  readonly bytes: string
  readonly order: 'number' | 'number DESC'
  readonly page: Page
}

/** Reads content. A page first looks up the sizes of its items, and then reads only those that fit. */
export class ContentReader implements ContentReading {
  protected readonly rows: Rows
  protected readonly types: Sql
  protected readonly entries: Sql

  constructor(rows: Rows) {
    this.rows = rows
    this.types = rows.dialect.table('content_types')
    this.entries = rows.dialect.table('entries')
  }

  async findType({ projectId, key, byId = true }: TypeReference): Promise<ContentType | undefined> {
    const find = (column: 'key' | 'id') =>
      this.rows.all<TypeRow>(sql`SELECT * FROM ${this.#typesOf(projectId)} AND ${raw(column)} = ${toStoredText(key)}`)
    const [row = byId ? (await find('id'))[0] : undefined] = await find('key')
    return row && contentTypeOf(row)
  }

  async findEntry({ type, id }: { readonly type: ContentType; readonly id: string }): Promise<Entry | undefined> {
    const [row] = await this.rows.all<EntryRow>(
      sql`SELECT * FROM ${this.#entriesOf(type)} AND id = ${toStoredText(id)}`,
    )
    return row && entryOf(row, type)
  }

  async listTypes({ projectId, ...page }: TypeQuery): Promise<Paged<ContentType>> {
    const { rows, ...counted } = await this.#page<TypeRow>({
      of: this.#typesOf(projectId),
      bytes: 'octet_length(schema) + octet_length(description)',
      order: 'number',
      page,
    })
    return { ...counted, list: rows.map(contentTypeOf) }
  }

  async listEntries({ type, ...page }: EntryQuery): Promise<Paged<Entry>> {
    const { rows, ...counted } = await this.#page<EntryRow>({
      of: this.#entriesOf(type),
      bytes: 'octet_length(fields)',
      order: 'number DESC',
      page,
    })
    return { ...counted, list: rows.map((row) => entryOf(row, type)) }
  }

  #typesOf(project: string): Sql {
    return sql`${this.types} WHERE project = ${project} AND ${this.rows.dialect.isActive}`
  }

  #entriesOf(type: ContentType): Sql {
    return sql`${this.entries} WHERE ${hasCells(this.rows.dialect.entriesOf(type))}`
  }

  async #page<Row>({ of, bytes, order, page: { offset, limit } }: List) {
    const [counted] = await this.rows.all<{ total: number }>(sql`SELECT count(*) AS total FROM ${of}`)
    const inOrder = raw(`ORDER BY ${order}`)
    const found = await this.rows.all<NumberedRow>(
      sql`SELECT number, ${raw(bytes)} AS bytes FROM ${of} ${inOrder} LIMIT ${limit} OFFSET ${offset}`,
    )
    const numbers = fitting(found).map(({ number }) => number)
    const isOfPage = this.rows.dialect.isAnyOf('number', numbers)
    const rows = await this.rows.all<Row>(sql`SELECT * FROM ${of} AND ${isOfPage} ${inOrder}`)
    const hasMore = numbers.length < found.length
    return { total: counted!.total, rows, ...(hasMore ? { next: offset + numbers.length + 1 } : {}) }
  }
}
