import { fitting, type Sized } from '../page-bytes.js'
import type {
  CountQuery,
  ErrorList,
  ErrorQuery,
  Facets,
  RecordCounts,
  RecordFilter,
  RecordPage,
  RecordQuery,
} from '../record-storage.js'
import { fieldConditions, isNextPage, needsWords } from '../records/field-conditions.js'
import { maxFacetBytes, maxTotal, nextWindow } from '../records/limits.js'
import { type Patience, patienceOf } from '../records/patience.js'
import { facetsOf } from '../records/record-facets.js'
import { type StoredRow, storedRecord } from '../records/stored-record.js'
import { raw, sql } from '../sql.js'
import type { Database } from './database.js'
import { foundErrors } from './error-reader.js'
import { counted } from './record-counter.js'
import { RecordNames } from './record-names.js'
import { goesOn, RecordSelection, type Source } from './record-selection.js'
import { rowsOf } from './sqlite-rows.js'
import { TextIndex } from './text-index.js'

/** Counting takes no longer than this where a search must not take long. */
const countingMs = 20

/** Reads records, newest first. */
export class RecordReader {
  readonly #database: Database
  readonly texts: TextIndex
  readonly selection: RecordSelection
  readonly #names: RecordNames
  #ended: Int32Array = new Int32Array(1)

  /** @param texts path of the file for the text index, or `:memory:` */
  constructor(database: Database, texts: string) {
    this.#database = database
    this.texts = new TextIndex(database, texts)
    this.selection = new RecordSelection(database, this.texts)
    this.#names = new RecordNames(database)
    database.function(goesOn, { deterministic: false }, (_id: number) => {
      this.check()
      return 1
    })
  }

  /** The next question, which is asked at once, ends when this is not 0. */
  until(ended: Int32Array): this {
    this.#ended = ended
    return this
  }

  /** @throws when the question has been ended */
  check(): void {
    if (Atomics.load(this.#ended, 0) !== 0) throw new Error('the search has been ended')
  }

  /** Looks up ids and sizes first, and then reads only the records that fit into the page. */
  read(query: RecordQuery): RecordPage {
    const lane = this.#lane(query)
    const patience = patienceOf(query.patienceMs)
    const isNext = isNextPage(query)
    const { found, rest } = isNext ? this.#next(query, { lane, patience }) : this.#newest(query, { lane, patience })
    const page = fitting(found)
    const list = this.#rows(isNext ? page.toReversed() : page).map(storedRecord)
    if (page.length === found.length && rest !== undefined) {
      return { total: found.length, totalIsAtLeast: true, list, next: rest, incomplete: true }
    }
    const next = page.length < found.length ? { next: page.at(-1)!.id } : {}
    const count = () => {
      const patience = patienceOf(query.patienceMs === undefined ? undefined : countingMs)
      return this.#count(query, { lane, patience, least: found.length })
    }
    if (query.before !== undefined || query.after !== undefined) return { ...count(), list, ...next }
    // A first page that is not full has all matches.
    return { ...(found.length < query.limit ? { total: found.length } : count()), list, ...next }
  }

  facets(query: RecordQuery): Facets {
    const { found } = this.#newest(query, { lane: this.#lane(query), patience: patienceOf(query.patienceMs) })
    const newest = fitting(found, maxFacetBytes)
    return facetsOf(this.#rows(newest).map(({ record }) => record))
  }

  counts(query: CountQuery): RecordCounts {
    return counted(query, { database: this.#database, selection: this.selection, lane: this.#lane(query) })
  }

  errors(query: ErrorQuery): ErrorList {
    return foundErrors(query, { database: this.#database, lane: this.#lane({ kind: 'logs', bucket: query.bucket }) })
  }

  /** Row id of the lane; 0, which no lane has, before its first record. */
  #lane({ kind, bucket }: RecordFilter): number {
    const found = this.#database.prepare('SELECT id FROM lanes WHERE kind = ? AND bucket = ?').get(kind, bucket)
    return (found as { id: number } | undefined)?.id ?? 0
  }

  /** @param least so many records are known to match */
  #count(
    query: RecordQuery,
    {
      lane,
      patience,
      least,
    }: { readonly lane: number; readonly patience: Patience | undefined; readonly least: number },
  ) {
    const { kind, since, until } = query
    const isOnlyFields = !needsWords(query) && since === undefined && until === undefined
    const known = isOnlyFields ? this.#names.count({ lane, kind, fields: fieldConditions(query) }) : undefined
    if (known !== undefined) return { total: known }
    let total = 0
    let isFirst = true
    for (const source of this.selection.sources(query, { lane })) {
      if (!isFirst && patience?.isOver() === true)
        return { total: Math.max(total, least), totalIsAtLeast: true } as const
      isFirst = false
      const limited = sql`SELECT 1 FROM ${source} LIMIT ${maxTotal + 1 - total}`
      const [row] = rowsOf(this.#database, sql`SELECT count(*) AS counted FROM (${limited})`) as { counted: number }[]
      total += row!.counted
      if (total > maxTotal) return { total: maxTotal, totalIsAtLeast: true } as const
    }
    return { total }
  }

  /** Ids and sizes of the newest records, and the id from which to go on where the search was cut. */
  #newest(
    query: RecordQuery,
    { lane, patience }: { readonly lane: number; readonly patience?: Patience | undefined },
  ): { readonly found: Found[]; readonly rest?: number } {
    const { before = Number.MAX_SAFE_INTEGER, after = -1, limit } = query
    const found: Found[] = []
    let isFirst = true
    for (const source of this.selection.sources(query, { lane, ids: { first: after + 1, last: before - 1 } })) {
      if (!isFirst && patience?.isOver() === true) return { found, rest: source.last + 1 }
      isFirst = false
      found.push(...this.#first(source, limit - found.length))
      if (found.length >= limit) break
    }
    return { found }
  }

  /** The records that follow an id, in their order, and the id from which to go on where the search was cut. */
  #next(
    query: RecordQuery,
    { lane, patience }: { readonly lane: number; readonly patience: Patience | undefined },
  ): { readonly found: Found[]; readonly rest?: number } {
    const { limit } = query
    const place = this.#database.prepare(
      'SELECT id FROM records INDEXED BY records_by_lane WHERE lane = ? AND id > ? ORDER BY id LIMIT 1 OFFSET ?',
    )
    const found: Found[] = []
    let after = query.after!
    for (let size = limit; ; size = nextWindow(size)) {
      const last = (place.get(lane, after, size - 1) as { id: number } | undefined)?.id
      const before = last === undefined ? undefined : last + 1
      found.push(...this.#newest({ ...query, after, before, limit: size }, { lane }).found.reverse())
      if (found.length >= limit) return { found: found.slice(0, limit) }
      if (last === undefined) return { found }
      after = last
      if (patience?.isOver() === true) return { found, rest: after }
    }
  }

  #first(source: Source, limit: number): Found[] {
    const first = sql`SELECT r.id AS id, octet_length(r.record) AS bytes FROM ${source} ORDER BY ${raw(source.order)} LIMIT ${limit}`
    return rowsOf(this.#database, first) as Found[]
  }

  /** The rows, except those that the writer has forgotten meanwhile. */
  #rows(found: readonly Found[]): StoredRow[] {
    const one = this.#database.prepare('SELECT id, received_at AS receivedMs, record FROM records WHERE id = ?')
    return found.map(({ id }) => one.get(id) as StoredRow | undefined).filter((row) => row !== undefined)
  }
}

interface Found extends Sized {
  readonly id: number
}
