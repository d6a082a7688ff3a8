import type { RecordFilter } from '../record-storage.js'
import { earliestMs, hourMs, latestMs, minuteMs } from '../records/record-times.js'
import { raw, type Sql, sql } from '../sql.js'
import type { Days } from './days.js'
import type { Hurry } from './hurry.js'
import type { Question } from './postgres-rows.js'
import { conditionsOf } from './record-conditions.js'
import { dayOf, firstIdOf, msOfId } from './record-ids.js'

/** So many of the newest records are read one by one before an index is asked. */
const newest = 5000
/** Each further part of the records that are read one by one is larger by this factor. */
const growth = 8
/** A term that more of the newest records have than one in this number is frequent. */
const frequentIn = 100
const dayMs = 86_400_000

/** A range of ids, both included. */
export interface Ids {
  readonly first: number
  readonly last: number
}

export const allIds: Ids = { first: 0, last: Number.MAX_SAFE_INTEGER }

/** A record that was found. */
export interface Found {
  readonly id: number
  /** Size of its JSON. */
  readonly bytes: number
  readonly timeMs: number
  readonly value: string
}

/** A search, and how far it has come. */
interface Search {
  readonly filter: RecordFilter
  readonly isMet: Sql
  readonly isCandidate: Sql
  readonly ids: Ids
  readonly limit: number
  readonly found: Found[]
  /** The largest id that was not looked at; undefined when there is none. */
  next: number | undefined
}

/** How many records a search looks for. */
export interface SelectionLimits {
  readonly ids?: Ids
  readonly limit: number
  /** So many are enough where no index finds the others and somebody waits. @default `limit` */
  readonly enough?: number
}

/** The newest matching records, and where the search was cut the largest id that it has not looked at. */
export interface Selected {
  readonly found: Found[]
  readonly rest?: number
}

const columns = raw('id, octet_length(record) AS bytes, time_ms AS "timeMs", value')

/**
 * Finds the newest records of a filter. Frequent ones are among the newest records of the lane, which are read one by one. Rare ones are then looked up
 * in the index of terms, day by day: it has no order, so that it must never be asked for frequent ones.
 */
export class RecordSelection {
  readonly #ask: Question
  readonly #days: Days
  readonly #hurry: Hurry | undefined

  /** @param hurry cuts searches by words and fields, but not before they have looked at the newest records */
  constructor(ask: Question, { days, hurry }: { readonly days: Days; readonly hurry?: Hurry | undefined }) {
    this.#ask = ask
    this.#days = days
    this.#hurry = hurry
  }

  /** The newest matching records, at most `limit`. */
  async newest(filter: RecordFilter, { ids = allIds, limit, enough = limit }: SelectionLimits): Promise<Selected> {
    const conditions = conditionsOf(filter)
    const range = await this.withTimes(filter, ids)
    if (conditions === undefined || range === undefined) return { found: [] }
    const { isMet, isCandidate = raw('false') } = conditions
    if (isMet === undefined) {
      const found = await this.#ask<Found>(
        sql`SELECT ${columns} FROM sluice_records WHERE ${inLane(filter, range)} ORDER BY id DESC LIMIT ${limit}`,
      )
      return { found }
    }
    const search: Search = { filter, isMet, isCandidate, ids: range, limit, found: [], next: range.last }
    const candidates = await this.#check(search, { rows: newest, ask: this.#ask })
    const hasTerms = conditions.hasTerms && candidates <= newest / frequentIn
    this.#hurry?.begin()
    const ask = this.#hurry?.ask ?? this.#ask
    try {
      for (let rows = newest * growth; !hasTerms && isOpen(search); rows *= growth) {
        if (this.#hurry !== undefined && search.found.length >= enough) break
        await this.#check(search, { rows, ask })
      }
      if (hasTerms && isOpen(search)) await this.#askIndex(search, ask)
    } catch (error) {
      if (this.#hurry?.isOver() !== true || search.next === undefined) throw error
    }
    return search.next === undefined || search.found.length >= limit
      ? { found: search.found }
      : { found: search.found, rest: search.next }
  }

  /** Reads the newest rows that were not looked at, and checks each. Returns the number of candidates among them. */
  async #check(search: Search, { rows, ask }: { readonly rows: number; readonly ask: Question }): Promise<number> {
    const { filter, isMet, isCandidate, ids, limit, found } = search
    const read = await ask<Found & { isEnd: boolean }>(
      sql`WITH newest AS MATERIALIZED (
         SELECT ${columns}, terms, time_ms FROM sluice_records WHERE ${inLane(filter, { ...ids, last: search.next! })} ORDER BY id DESC LIMIT ${rows}
       )
       (SELECT id, bytes, "timeMs", value, false AS "isEnd" FROM newest WHERE ${isMet} ORDER BY id DESC LIMIT ${limit - found.length})
       UNION ALL SELECT min(id), count(*) FILTER (WHERE ${isCandidate}), 0, '', true FROM newest HAVING count(*) = ${rows}`,
    )
    const end = read.find(({ isEnd }) => isEnd)
    found.push(...read.filter(({ isEnd }) => !isEnd))
    search.next = end === undefined ? undefined : end.id - 1
    return end?.bytes ?? 0
  }

  /** Asks the index of terms for some days at once: the newest one, and then twice as many each time. */
  async #askIndex(search: Search, ask: Question): Promise<void> {
    const { filter, isMet, ids, limit, found } = search
    const { bucket, kind } = filter
    const last = search.next!
    const first = dayOf(msOfId(ids.first))
    const days = (await this.#days.list()).filter((day) => day >= first && firstIdOf(day * dayMs) <= last)
    for (let at = 0, size = 1; at < days.length && found.length < limit; at += size, size *= 2) {
      const part = days.slice(at, at + size)
      const [from, to] = [firstIdOf(part.at(-1)! * dayMs), firstIdOf((part[0]! + 1) * dayMs) - 1]
      // With the collation of the primary key the planner would use that, and read every row of the day.
      const rows = await ask<Found>(
        sql`SELECT ${columns} FROM sluice_records WHERE bucket = ${bucket} COLLATE "C" AND kind = ${kind} COLLATE "C"
          AND id BETWEEN ${Math.max(ids.first, from)} AND ${Math.min(last, to)} AND ${isMet}
          ORDER BY id DESC LIMIT ${limit - found.length}`,
      )
      found.push(...rows)
      search.next = from - 1
    }
    if (found.length < limit) search.next = undefined
  }

  /** The ids of the records that may have the times of the filter. Undefined if there are none. */
  async withTimes({ bucket, kind, since, until }: RecordFilter, ids: Ids): Promise<Ids | undefined> {
    if (since === undefined && until === undefined) return ids
    const from = Math.min(Math.max(since ?? earliestMs, earliestMs), latestMs)
    const to = Math.min(Math.max(until ?? latestMs, earliestMs) + 1, latestMs + 1)
    const stepMs = to - from > 12 * hourMs ? hourMs : minuteMs
    const [found] = await this.#ask<{ first: number | null; last: number | null }>(
      sql`SELECT min(first_id) AS first, max(last_id) AS last FROM sluice_spans WHERE bucket = ${bucket} AND kind = ${kind}
        AND step_ms = ${stepMs} AND at_ms > ${Math.floor(from - stepMs)} AND at_ms < ${Math.ceil(to)}`,
    )
    if (found?.first == null || found.last == null) return undefined
    return { first: Math.max(ids.first, found.first), last: Math.min(ids.last, found.last) }
  }
}

function inLane({ bucket, kind }: RecordFilter, { first, last }: Ids): Sql {
  return sql`bucket = ${bucket} AND kind = ${kind} AND id BETWEEN ${first} AND ${last}`
}

function isOpen({ found, limit, next }: Search): boolean {
  return next !== undefined && found.length < limit
}
