import { fitting } from '../page-bytes.js'
import type { CountQuery, Facets, RecordCounts, RecordFilter, RecordPage, RecordQuery } from '../record-storage.js'
import {
  countedField,
  type FieldCondition,
  fieldConditions,
  isNextPage,
  needsWords,
} from '../records/field-conditions.js'
import { maxFacetBytes, maxTotal, nextWindow } from '../records/limits.js'
import { maxNameLength, maxNames } from '../records/named-fields.js'
import { patienceOf } from '../records/patience.js'
import { facetsOf } from '../records/record-facets.js'
import { type StoredRow, storedRecord } from '../records/stored-record.js'
import { type Sql, sql } from '../sql.js'
import { anyValue, uncounted } from './counted-names.js'
import type { Question } from './postgres-rows.js'
import { counted } from './record-counter.js'
import { type Found, RecordSelection, type Selected, type SelectionLimits } from './record-selection.js'
import { countedName } from './record-terms.js'

/** Reads records, newest first. Each question has its own. */
export class RecordReader {
  readonly #ask: Question
  readonly #selection: RecordSelection

  constructor(ask: Question, searching: ConstructorParameters<typeof RecordSelection>[1]) {
    this.#ask = ask
    this.#selection = new RecordSelection(ask, searching)
  }

  /** Looks up ids and sizes first, and then reads only the records that fit into the page. */
  async read(query: RecordQuery): Promise<RecordPage> {
    const { before = Number.MAX_SAFE_INTEGER, after = -1, limit } = query
    const isFirst = query.before === undefined && query.after === undefined
    const known = await this.#knownTotal(query)
    // One search finds the first page and counts.
    const searched = known === undefined && isFirst ? Math.max(limit, maxTotal + 1) : limit
    const isNext = isNextPage(query)
    const { found: matching, rest } = isNext
      ? await this.#next(query, after)
      : await this.#newest(query, { ids: { first: after + 1, last: before - 1 }, limit: searched, enough: limit })
    const found = matching.slice(0, limit)
    const page = fitting(found)
    const list = (await this.#rows(query, page)).map(storedRecord)
    if (rest !== undefined && found.length < limit && page.length === found.length) {
      return { total: found.length, totalIsAtLeast: true, list, next: isNext ? rest : rest + 1, incomplete: true }
    }
    const next = page.length < found.length ? { next: page.at(-1)!.id } : {}
    if (!isFirst) return { ...(known ?? (await this.#total(query, found.length))), list, ...next }
    // A first page that is not full has all matches.
    if (found.length < limit) return { total: found.length, list, ...next }
    return { ...(known ?? totalOf(matching.length, rest)), list, ...next }
  }

  async facets(query: RecordQuery): Promise<Facets> {
    const { before = Number.MAX_SAFE_INTEGER, after = -1, limit } = query
    const { found } = await this.#newest(query, { ids: { first: after + 1, last: before - 1 }, limit })
    const newest = fitting(found, maxFacetBytes)
    return facetsOf((await this.#rows(query, newest)).map(({ record }) => record))
  }

  counts(query: CountQuery): Promise<RecordCounts> {
    return counted(query, { ask: this.#ask, selection: this.#selection })
  }

  async #newest(filter: RecordFilter, search: SelectionLimits): Promise<Selected> {
    return this.#selection.newest(await this.#withLevels(filter), search)
  }

  /** The records that follow an id, in their order, and the id from which to go on where the search was cut. */
  async #next(query: RecordQuery, begin: number): Promise<Selected> {
    const { bucket, kind, limit } = query
    const patience = patienceOf(query.patienceMs)
    const found: Found[] = []
    let after = begin
    for (let size = limit; ; size = nextWindow(size)) {
      const [place] = await this.#ask<{ id: number }>(
        sql`SELECT id FROM sluice_records WHERE bucket = ${bucket} AND kind = ${kind} AND id > ${after}::bigint
          ORDER BY id LIMIT 1 OFFSET ${size - 1}`,
      )
      const ids = { first: after + 1, last: place?.id ?? Number.MAX_SAFE_INTEGER }
      const part = await this.#newest(query, { ids, limit: size })
      // The newest of a window that was cut are not the next.
      if (part.rest !== undefined) return { found, rest: after }
      found.push(...part.found.reverse())
      if (found.length >= limit) return { found: found.slice(0, limit) }
      if (place === undefined) return { found }
      after = place.id
      if (patience?.isOver() === true) return { found, rest: after }
    }
  }

  /** Levels that are left out, as those that remain: the index of terms finds records by what they have. */
  async #withLevels(filter: RecordFilter): Promise<RecordFilter> {
    const { kind, levels, minLevel, notLevels } = filter
    if (kind !== 'logs' || notLevels === undefined || levels !== undefined || minLevel !== undefined) return filter
    const { names, isComplete } = await this.#levels(filter)
    if (!isComplete || names.some((name) => name.length >= maxNameLength)) return filter
    const known = names.map((name) => String(JSON.parse(name)))
    return { ...filter, notLevels: undefined, levels: known.filter((level) => !notLevels.includes(level)) }
  }

  /** @param least so many records are known to match, also where counting is cut */
  async #total(query: RecordQuery, least: number) {
    const { found, rest } = await this.#newest(query, { limit: maxTotal + 1 })
    return totalOf(Math.max(found.length, least), rest)
  }

  /** The number of records that meet the conditions, where a table has it. */
  async #knownTotal(query: RecordQuery): Promise<{ readonly total: number } | undefined> {
    const { kind, since, until } = query
    const [first, ...others] = fieldConditions(query)
    if (needsWords(query) || since !== undefined || until !== undefined || others.length > 0) return undefined
    const isCounted = first?.field === countedField[kind]
    if (first?.not === true && !isCounted) return undefined
    if (first !== undefined && !isCounted) return this.#countOfName(query, first)
    const names = first === undefined ? [anyValue] : first.values.map(countedName)
    const isCountedBy = first?.not === true ? sql`<> ALL (${[...names, anyValue]})` : sql`= ANY (${names})`
    const [row] = await this.#ask<Total>(
      sql`SELECT sum(records)::bigint AS total FROM sluice_counts WHERE ${ofAllTime(query)} AND value ${isCountedBy}`,
    )
    return row?.total == null ? undefined : { total: row.total }
  }

  async #countOfName({ bucket, kind }: RecordFilter, { field, values }: FieldCondition) {
    const [row] = await this.#ask<Total & { isUncounted: boolean | null }>(
      sql`SELECT sum(records)::bigint AS total, bool_or(name = ${uncounted}) AS "isUncounted" FROM sluice_names
        WHERE bucket = ${bucket} AND kind = ${kind} AND field = ${field} AND name = ANY(${[...values, uncounted]})`,
    )
    return row?.total == null || row.isUncounted === true ? undefined : { total: row.total }
  }

  /** The levels of a lane, as JSON. `isComplete` is false where there may be others. */
  async #levels(lane: RecordFilter) {
    const names = await this.#mostFrequent(
      sql`value AS name FROM sluice_counts WHERE ${ofAllTime(lane)} AND value <> ${anyValue}`,
    )
    return { names, isComplete: names.length < maxNames }
  }

  /** @param names what follows SELECT, with the column `name` first */
  async #mostFrequent(names: Sql): Promise<string[]> {
    const rows = await this.#ask<{ name: string }>(
      sql`SELECT ${names} GROUP BY 1 ORDER BY sum(records) DESC, 1 LIMIT ${maxNames}`,
    )
    return rows.map(({ name }) => name)
  }

  /** The records in the order in which they were found. */
  async #rows({ bucket, kind }: RecordFilter, found: readonly Found[]): Promise<StoredRow[]> {
    if (found.length === 0) return []
    return this.#ask<StoredRow>(
      sql`SELECT id, received_ms AS "receivedMs", record FROM sluice_records
        WHERE bucket = ${bucket} AND kind = ${kind} AND id = ANY(${found.map(({ id }) => id)}) ORDER BY id DESC`,
    )
  }
}

/** True for the counts of a lane that no step bounds. */
function ofAllTime({ bucket, kind }: RecordFilter): Sql {
  return sql`bucket = ${bucket} AND kind = ${kind} AND step_ms = 0 AND at_ms = 0`
}

interface Total {
  readonly total: number | null
}

/** @param rest set where counting was cut */
function totalOf(counted: number, rest: number | undefined) {
  if (rest !== undefined && counted <= maxTotal) return { total: counted, totalIsAtLeast: true } as const
  return counted > maxTotal ? ({ total: maxTotal, totalIsAtLeast: true } as const) : { total: counted }
}
