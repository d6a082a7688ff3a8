import { meetsQuery, type SearchedRecord } from '../../query/meets-query.js'
import type { Query } from '../../query/query.js'
import type { RecordFilter } from '../record-storage.js'
import { fieldConditions, needsWords } from '../records/field-conditions.js'
import { queryOfFilter, timeConditions } from '../records/filter-query.js'
import { allOf, raw, type Sql, sql } from '../sql.js'
import type { Database } from './database.js'
import { onRow } from './record-conditions.js'
import type { TextIndex } from './text-index.js'
import { questionOf } from './text-match.js'

/** Up to this many records that are not indexed yet are read one by one. With more, the index must catch up first. */
const maxUnindexed = 20_000
/** A function of SQL that throws when a search has been ended. */
export const goesOn = 'goes_on'
/**
 * Asks that function for one record in 64 that are looked at: a call costs as much as the rest of a record. The ids are scattered,
 * since those of one lane may be all odd, or each hundredth.
 */
const going = raw(`((r.id * 40503 >> 8) & 63 <> 0 OR ${goesOn}(r.id))`)
/** A function of SQL that checks the JSON of a record against the query that is asked. */
const isMeant = 'is_meant'
const allIds = { first: 0, last: Number.MAX_SAFE_INTEGER }
/** Ids of the first part of a search, and by how much the next part may be larger. A part should take about `partMs`. */
const firstPart = 20_000
const growth = 4
const partMs = 50

/** Matching records, as SQL after FROM with a row `r`, and the order that gives the newest first. */
export interface Source extends Sql {
  readonly order: string
  /** The largest id that it looks at. */
  readonly last: number
}

/** A range of ids, both included. */
interface Ids {
  readonly first: number
  readonly last: number
}

/**
 * Finds the records of a filter. Without words and values the index of the lane has them; otherwise the text index, and for the newest
 * records, which it does not have yet, a check of each.
 */
export class RecordSelection {
  readonly #database: Database
  readonly #texts: TextIndex
  /** What `is_meant` checks. */
  #query: Query = { type: 'all', of: [] }

  constructor(database: Database, texts: TextIndex) {
    this.#database = database
    this.#texts = texts
    database.function(isMeant, { deterministic: false }, (record: string) =>
      meetsQuery(JSON.parse(record) as SearchedRecord, this.#query) ? 1 : 0,
    )
  }

  /** True if the text index must catch up with the records before it can answer. */
  needsIndex(filter: RecordFilter): boolean {
    if (needsWords(filter)) return true
    if (fieldConditions(filter).length === 0) return false
    const { last } = this.#database.prepare('SELECT max(id) AS last FROM records').get() as { last: number | null }
    return (last ?? 0) - this.#texts.lastId > maxUnindexed
  }

  /**
   * The sources of the matching records, those of the newest first. All of them are later than those of the next source. A search that may
   * look at many records has many sources, so that whoever asks can stop between two of them. Each must be asked before the next is taken.
   */
  *sources(
    filter: RecordFilter,
    { lane, ids: wanted = allIds }: { readonly lane: number; readonly ids?: Ids },
  ): Generator<Source, void> {
    const times = this.#times(filter, lane)
    if (times === undefined) return
    const ids = { first: Math.max(wanted.first, times.ids.first), last: Math.min(wanted.last, times.ids.last) }
    const fields = fieldConditions(filter)
    if (fields.length === 0 && !needsWords(filter)) {
      yield ofLane({ lane, ids, conditions: times.conditions })
      return
    }
    if (this.needsIndex(filter)) while (this.#texts.follow());
    const query = queryOfFilter(filter)
    if (query === undefined) return
    if (!needsWords(filter)) {
      const newest = { first: Math.max(ids.first, this.#texts.lastId + 1), last: ids.last }
      const conditions = [...times.conditions, ...fields.map((field) => onRow(field, filter.kind))]
      if (newest.first <= newest.last) yield ofLane({ lane, ids: newest, conditions })
    }
    yield* this.#indexed(query, { lane, ids, conditions: times.conditions })
  }

  *#indexed(query: Query, { lane, ids, conditions }: Conditioned): Generator<Source, void> {
    const { match, isExact, hasPrefix } = questionOf(
      { id: lane, numbersOf: (path) => this.#texts.numbersOf(lane, path) },
      query,
    )
    const checks = isExact ? conditions : [...conditions, raw(`${isMeant}(r.record)`)]
    let size = firstPart
    for (const { part, first, last } of this.#parts(ids)) {
      for (let end = last; end >= first; ) {
        const begin = hasPrefix ? first : Math.max(first, end - size + 1)
        const startedAt = performance.now()
        this.#query = query
        yield ofPart({ part, match, lane, ids: { first: begin, last: end }, conditions: checks })
        const ms = performance.now() - startedAt
        size = Math.max(firstPart, Math.round(size * Math.min(growth, partMs / Math.max(ms, 1))))
        end = begin - 1
      }
    }
  }

  /** The parts of the text index that have some of the ids, without the ids before the first record that is left. */
  #parts({ first, last }: Ids): (Ids & { readonly part: string })[] {
    const left = this.#database.prepare('SELECT min(id) AS id FROM records WHERE id >= ?')
    return this.#texts.parts().flatMap((part) => {
      const firstLeft = (left.get(Math.max(first, part.first)) as { id: number | null }).id ?? part.last + 1
      const ids = { first: firstLeft, last: Math.min(last, part.last) }
      return ids.first > ids.last ? [] : [{ part: part.name, ...ids }]
    })
  }

  /** The conditions on times, and the ids that may meet them; undefined if none may. */
  #times(filter: RecordFilter, lane: number): { ids: Ids; conditions: readonly Sql[] } | undefined {
    const conditions = timeConditions('r.time_ms', filter)
    if (conditions.length === 0) return { ids: allIds, conditions }
    const { since = -Number.MAX_VALUE, until = Number.MAX_VALUE } = filter
    const { first, last } = this.#database
      .prepare(
        'SELECT min(first_id) AS first, max(last_id) AS last FROM spans WHERE lane = ? AND latest_ms >= ? AND earliest_ms < ?',
      )
      .get(lane, since, until) as { first: number | null; last: number | null }
    return first === null || last === null ? undefined : { ids: { first, last }, conditions }
  }
}

interface Conditioned {
  readonly lane: number
  readonly ids: Ids
  readonly conditions: readonly Sql[]
}

function ofLane({ lane, ids, conditions }: Conditioned): Source {
  const checks = conditions.length === 0 ? [] : [going, ...conditions]
  const found = allOf([sql`r.lane = ${lane} AND r.id BETWEEN ${ids.first} AND ${ids.last}`, ...checks])
  return { ...sql`records r INDEXED BY records_by_lane WHERE ${found}`, order: 'r.id DESC', last: ids.last }
}

function ofPart({
  part,
  match,
  lane,
  ids,
  conditions,
}: Conditioned & { readonly part: string; readonly match: string }): Source {
  const name = raw(part)
  const found = sql`w.${name} MATCH ${match} AND w.rowid BETWEEN ${-ids.last} AND ${-ids.first}`
  return {
    ...sql`texts.${name} w CROSS JOIN records r INDEXED BY records_by_lane ON r.id = -w.rowid
      WHERE ${allOf([found, going, sql`r.lane = ${lane}`, ...conditions])}`,
    order: 'w.rowid',
    last: ids.last,
  }
}
