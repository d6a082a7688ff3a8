import type {
  CountQuery,
  Facets,
  RecordCounts,
  RecordFilter,
  RecordPage,
  RecordQuery,
  StoredRecord,
  UnknownValue,
} from '../record-storage.js'
import type { Database } from './database.js'
import { fitting, type Sized } from './page-bytes.js'
import { allOf, fieldConditions, onRow, type Sql, type Value } from './record-conditions.js'
import { type CountRow, countsOf } from './record-counts.js'
import { facetsOf } from './record-facets.js'
import { TextIndex } from './text-index.js'

/** Limit where records must be counted one by one. */
const maxCounted = 1000
/** Facets read at most this many bytes of records. */
const maxFacetBytes = 16 * 1_048_576

/** Reads records, newest first. */
export class RecordReader {
  readonly #database: Database
  readonly #texts: TextIndex

  /** @param texts path of the file for the text index, or `:memory:` */
  constructor(database: Database, texts: string) {
    this.#database = database
    this.#texts = new TextIndex(database, texts)
  }

  /** Indexes one more step. Returns true if there may be more. */
  follow(): boolean {
    return this.#texts.follow()
  }

  read(query: RecordQuery): RecordPage {
    const lane = this.#lane(query)
    const source = lane === undefined ? undefined : this.#source(query, lane)
    const page =
      source === undefined ? { total: 0, list: [] } : { ...this.#count(query, source), ...this.#list(query, source) }
    const isFirst = query.before === undefined && query.after === undefined
    const unknown = isFirst && page.list.length === 0 ? this.#unknown(query, lane) : undefined
    return unknown === undefined ? page : { ...page, unknown }
  }

  facets(query: RecordQuery): Facets {
    const lane = this.#lane(query)
    const source = lane === undefined ? undefined : this.#source(query, lane)
    if (source === undefined) return facetsOf([])
    const newest = fitting(this.#newest(query, source), maxFacetBytes)
    return facetsOf(this.#json(newest.map(({ id }) => id)))
  }

  counts(query: CountQuery): RecordCounts {
    const lane = this.#lane(query)
    const source = lane === undefined ? undefined : this.#source(query, lane)
    if (source === undefined) return { total: 0, values: [], steps: [] }
    const by = query.kind === 'logs' ? 'level' : 'eventId'
    const rows = this.#all<CountRow>(
      `SELECT at, value, count(*) AS records, max(ms) AS lastMs FROM (
         SELECT CAST((ms + 62167219200000) / 60000 AS INTEGER) * 60000 - 62167219200000 AS at, value, ms FROM (
           SELECT min(max(r.time_ms, -62167219200000), 253402300799999) AS ms, r.record -> '$.${by}' AS value FROM ${source.sql}))
       GROUP BY at, value`,
      source.values,
    )
    return countsOf(rows, query.stepMs)
  }

  #lane({ kind, bucket }: RecordFilter): number | undefined {
    return this.#get<{ id: number }>('SELECT id FROM lanes WHERE kind = ? AND bucket = ?', [kind, bucket])?.id
  }

  /** The matching records, as SQL after FROM; undefined if no record can match. */
  #source(query: RecordFilter, lane: number): Sql | undefined {
    const conditions: Sql[] = []
    const { text, notText, since, until } = query
    const withTexts = text !== undefined || notText !== undefined
    if (withTexts) {
      const words = this.#texts.match({ text, notText, lane })
      if (words === undefined) return undefined
      conditions.push({ sql: 'w.words MATCH ?', values: [words] })
    }
    conditions.push(
      { sql: withTexts ? '+r.lane = ?' : 'r.lane = ?', values: [lane] },
      ...fieldConditions(query).map(onRow),
    )
    if (since !== undefined || until !== undefined) {
      const times = [since ?? -Number.MAX_VALUE, until ?? Number.MAX_VALUE]
      const ids = this.#get<{ first: number | null; last: number | null }>(
        'SELECT min(first_id) AS first, max(last_id) AS last FROM spans WHERE lane = ? AND latest_ms >= ? AND earliest_ms < ?',
        [lane, ...times],
      )
      if (ids?.first == null || ids.last === null) return undefined
      const range = withTexts ? 'w.rowid BETWEEN ? AND ?' : 'r.id BETWEEN ? AND ?'
      const bounds = withTexts ? [-ids.last, -ids.first] : [ids.first, ids.last]
      conditions.push({ sql: `${range} AND r.time_ms >= ? AND r.time_ms < ?`, values: [...bounds, ...times] })
    }
    const { sql, values } = allOf(conditions)
    const records = withTexts ? 'texts.words w CROSS JOIN records r ON r.id = -w.rowid' : 'records r'
    return { sql: `${records} WHERE ${sql}`, values }
  }

  #count(query: RecordQuery, { sql, values }: Sql) {
    const isFiltered = Object.entries(query).some(([key, value]) => value !== undefined && !unfiltering.has(key))
    const limit = isFiltered ? maxCounted + 1 : Number.MAX_SAFE_INTEGER
    const total = this.#get<{ counted: number }>(`SELECT count(*) AS counted FROM (SELECT 1 FROM ${sql} LIMIT ?)`, [
      ...values,
      limit,
    ])!.counted
    return total === limit ? ({ total: maxCounted, totalIsAtLeast: true } as const) : { total }
  }

  /** Looks up ids and sizes first, and then reads only the records that fit into the page. */
  #list(query: RecordQuery, source: Sql) {
    const wanted = this.#newest(query, source)
    const page = fitting(wanted)
    const list = this.#records(page.map(({ id }) => id))
    return page.length < wanted.length ? { list, next: page.at(-1)!.id } : { list }
  }

  /** Ids and sizes of the newest records. */
  #newest({ text, notText, before = Number.MAX_SAFE_INTEGER, after = -1, limit }: RecordQuery, { sql, values }: Sql) {
    const withTexts = text !== undefined || notText !== undefined
    const range = withTexts ? 'w.rowid > -? AND w.rowid < -?' : 'r.id < ? AND r.id > ?'
    const order = withTexts ? 'w.rowid' : 'id DESC'
    return this.#all<Sized & { id: number }>(
      `SELECT r.id AS id, octet_length(r.record) AS bytes FROM ${sql} AND ${range} ORDER BY ${order} LIMIT ?`,
      [...values, before, after, limit],
    )
  }

  /** The first value of a filter that no record of the lane has. */
  #unknown(query: RecordQuery, lane = 0): UnknownValue | undefined {
    const named = { ...query, minLevel: undefined, notLevels: undefined }
    for (const { field, values } of fieldConditions(named)) {
      const names = this.#all<{ name: string }>(
        `SELECT record -> '$.${field}' AS name FROM records WHERE lane = ? AND name IS NOT NULL GROUP BY name ORDER BY count(*) DESC`,
        [lane],
      ).map(({ name }) => name)
      const value = values.find((each) => !names.includes(each))
      if (value === undefined) continue
      const known = field === 'eventId' ? [] : names.slice(0, 10).map((name) => JSON.parse(name) as string)
      return { field, value: JSON.parse(value) as string | number, known }
    }
    return undefined
  }

  #records(ids: readonly number[]): StoredRecord[] {
    const one = this.#database.prepare('SELECT received_at, record FROM records WHERE id = ?')
    return ids.map((id) => {
      const { received_at, record } = one.get(id) as { received_at: number; record: string }
      return { id, receivedAt: new Date(received_at).toISOString(), ...(JSON.parse(record) as object) }
    })
  }

  #json(ids: readonly number[]): string[] {
    const one = this.#database.prepare('SELECT record FROM records WHERE id = ?')
    return ids.map((id) => (one.get(id) as { record: string }).record)
  }

  #get<Row>(sql: string, values: readonly Value[]): Row | undefined {
    return this.#database.prepare(sql).get(...values) as Row | undefined
  }

  #all<Row>(sql: string, values: readonly Value[]): Row[] {
    return this.#database.prepare(sql).all(...values) as Row[]
  }
}

/** Parts of a query that leave no record out. */
const unfiltering = new Set(['kind', 'bucket', 'limit', 'before', 'after'])
