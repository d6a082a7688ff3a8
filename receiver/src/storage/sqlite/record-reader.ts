import type { Facets, RecordPage, RecordQuery, StoredRecord } from '../record-storage.js'
import type { Database } from './database.js'
import { fitting, type Sized } from './page-bytes.js'
import { type FacetRow, facetsOf } from './record-facets.js'
import { toSqlText } from './sql-text.js'
import { TextIndex } from './text-index.js'

/** Up to this many series are read one by one and merged. With more, the lane is read until enough records match. */
const maxMergedSeries = 100
/** Limit where records must be counted one by one. */
const maxCounted = 1000
/** Facets read at most this many bytes of records. */
const maxFacetBytes = 16 * 1_048_576

type Value = string | number

interface Selection {
  readonly lane: number
  /** Undefined means the whole lane. */
  readonly series: readonly number[] | undefined
  /** Number of records in these series. */
  readonly records: number
}

/** A piece of SQL and the values for its question marks. */
interface Sql {
  readonly sql: string
  readonly values: readonly Value[]
}

/** Reads records, newest first. Filters select series, times select a range of ids, words select records from the text index. */
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
    const found = this.#sources(query)
    if (found === undefined) return { total: 0, list: [] }
    return { ...this.#count(query, found), ...this.#list(query, found.sources) }
  }

  facets(query: RecordQuery): Facets {
    const newest = fitting(this.#newest(query, this.#sources(query)?.sources ?? []), maxFacetBytes)
    const rows = this.#all<FacetRow>(
      `SELECT s.name AS series, g.machine, g.version, g.records FROM (
         SELECT r.series, r.record -> '$.machineName' AS machine, r.record -> '$.appVersion' AS version, count(*) AS records
           FROM json_each(?) ids CROSS JOIN records r ON r.id = ids.value GROUP BY 1, 2, 3
       ) g JOIN series s ON s.id = g.series`,
      [JSON.stringify(newest.map(({ id }) => id))],
    )
    return facetsOf(rows)
  }

  /** Undefined if no record can match. */
  #sources(query: RecordQuery): { readonly selection: Selection; readonly sources: readonly Sql[] } | undefined {
    const selection = this.#select(query)
    const condition = selection && this.#condition(query, selection)
    if (selection === undefined || condition === undefined) return undefined
    return { selection, sources: sourcesOf(query, selection).map((source) => both(source, condition)) }
  }

  #select({ kind, bucket, level, eventId, appName, env }: RecordQuery): Selection | undefined {
    const lane = this.#get<{ id: number }>('SELECT id FROM lanes WHERE kind = ? AND bucket = ?', [kind, bucket])?.id
    if (lane === undefined) return undefined
    const filters = Object.entries({ level, event_id: eventId, app_name: appName, env }).filter(
      (filter): filter is [string, Value] => filter[1] !== undefined,
    )
    const rows = this.#all<{ id: number; records: number }>(
      `SELECT id, records FROM series WHERE ${['lane = ?', ...filters.map(([column]) => `${column} = ?`)].join(' AND ')}`,
      [lane, ...filters.map(([, value]) => (typeof value === 'string' ? toSqlText(value) : value))],
    )
    if (rows.length === 0) return undefined
    return {
      lane,
      series: filters.length === 0 ? undefined : rows.map(({ id }) => id),
      records: rows.reduce((sum, { records }) => sum + records, 0),
    }
  }

  /** The condition for words and times; undefined if no record can match. */
  #condition({ text, since, until }: RecordQuery, { lane, series }: Selection): Sql | undefined {
    const conditions: Sql[] = []
    if (text !== undefined) {
      const words = this.#texts.match({ text, lane, series })
      if (words === undefined) return undefined
      conditions.push({ sql: 'w.words MATCH ?', values: [words] })
    }
    if (since !== undefined || until !== undefined) {
      const times = [since ?? -Number.MAX_VALUE, until ?? Number.MAX_VALUE]
      const ids = this.#get<{ first: number | null; last: number | null }>(
        'SELECT min(first_id) AS first, max(last_id) AS last FROM spans WHERE lane = ? AND latest_ms >= ? AND earliest_ms < ?',
        [lane, ...times],
      )
      if (ids?.first == null || ids.last === null) return undefined
      const range = text === undefined ? 'r.id BETWEEN ? AND ?' : 'w.rowid BETWEEN ? AND ?'
      const bounds = text === undefined ? [ids.first, ids.last] : [-ids.last, -ids.first]
      conditions.push({ sql: `${range} AND r.time_ms >= ? AND r.time_ms < ?`, values: [...bounds, ...times] })
    }
    return conditions.reduce(both, { sql: 'true', values: [] })
  }

  #count(
    { text, since, until }: RecordQuery,
    { selection, sources }: { selection: Selection; sources: readonly Sql[] },
  ) {
    if (text === undefined && since === undefined && until === undefined) return { total: selection.records }
    let total = 0
    for (const { sql, values } of sources) {
      const limited = `SELECT count(*) AS counted FROM (SELECT 1 FROM ${sql} LIMIT ?)`
      total += this.#get<{ counted: number }>(limited, [...values, maxCounted + 1 - total])!.counted
      if (total > maxCounted) return { total: maxCounted, totalIsAtLeast: true } as const
    }
    return { total }
  }

  /** Looks up ids and sizes first, and then reads only the records that fit into the page. */
  #list(query: RecordQuery, sources: readonly Sql[]) {
    const wanted = this.#newest(query, sources)
    const page = fitting(wanted)
    const list = this.#records(page.map(({ id }) => id))
    return page.length < wanted.length ? { list, next: page.at(-1)!.id } : { list }
  }

  /** Ids and sizes of the newest records. SQLite merges the sources as it walks them, so it reads few records more than it returns. */
  #newest({ text, before = Number.MAX_SAFE_INTEGER, limit }: RecordQuery, sources: readonly Sql[]) {
    if (sources.length === 0) return []
    const older = text === undefined ? 'r.id < ?' : 'w.rowid > -?'
    const selects = sources.map(
      ({ sql }) => `SELECT r.id AS id, octet_length(r.record) AS bytes FROM ${sql} AND ${older}`,
    )
    const order = text === undefined ? 'id DESC' : 'w.rowid'
    return this.#all<Sized & { id: number }>(`${selects.join(' UNION ALL ')} ORDER BY ${order} LIMIT ?`, [
      ...sources.flatMap(({ values }) => [...values, before]),
      limit,
    ])
  }

  #records(ids: readonly number[]): StoredRecord[] {
    const one = this.#database.prepare('SELECT received_at, record FROM records WHERE id = ?')
    return ids.map((id) => {
      const { received_at, record } = one.get(id) as { received_at: number; record: string }
      return { id, receivedAt: new Date(received_at).toISOString(), ...(JSON.parse(record) as object) }
    })
  }

  #get<Row>(sql: string, values: readonly Value[]): Row | undefined {
    return this.#database.prepare(sql).get(...values) as Row | undefined
  }

  #all<Row>(sql: string, values: readonly Value[]): Row[] {
    return this.#database.prepare(sql).all(...values) as Row[]
  }
}

/**
 * The sources of records, as SQL after FROM. Each walks one index from the newest to the oldest record. The sign `+` keeps SQLite from
 * choosing another index, whose order would be wrong.
 */
function sourcesOf({ text }: RecordQuery, { lane, series }: Selection): Sql[] {
  const records = text === undefined ? 'records r' : 'texts.words w CROSS JOIN records r ON r.id = -w.rowid'
  const ofLane: Sql = { sql: `${records} WHERE ${text === undefined ? '' : '+'}r.lane = ?`, values: [lane] }
  if (series === undefined) return [ofLane]
  if (text === undefined && series.length <= maxMergedSeries) {
    return series.map((one) => ({ sql: `${records} WHERE r.series = ?`, values: [one] }))
  }
  const ofSeries = { sql: '+r.series IN (SELECT value FROM json_each(?))', values: [JSON.stringify(series)] }
  return [both(ofLane, ofSeries)]
}

function both(first: Sql, second: Sql): Sql {
  return { sql: `${first.sql} AND ${second.sql}`, values: [...first.values, ...second.values] }
}
