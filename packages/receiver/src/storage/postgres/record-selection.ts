import type { RecordFilter } from '../record-storage.js'
import { earliestMs, hourMs, latestMs, minuteMs } from '../records/record-times.js'
import { joined, raw, type Sql, sql } from '../sql.js'
import type { Days } from './days.js'
import type { Hurry } from './hurry.js'
import type { Question } from './postgres-rows.js'
import { conditionsOf, type IndexedConditions } from './record-conditions.js'
import { dayOf, firstIdOf, msOfId } from './record-ids.js'

/** So many of the newest records are read one by one before an index is asked. */
const newest = 20_000
/**
 * A further part of the records that are read one by one may be larger by this factor. It should take about `partMs`: what a part has found is lost
 * where it is cut.
 */
const growth = 8
const partMs = 50
/** Terms that this many records have are frequent. */
const frequent = 10_000
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
 * Finds the newest records of a filter. First the newest records of the lane are read one by one. Rare ones are then looked up in the index of terms, day
 * by day. It has no order: it would give all records of frequent terms before the newest was known, so that those are read one by one, too.
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
    const { isMet, indexed } = conditions
    if (isMet === undefined) {
      const found = await this.#ask<Found>(
        sql`SELECT ${columns} FROM sluice_records WHERE ${inLane(filter, range)} ORDER BY id DESC LIMIT ${limit}`,
      )
      return { found }
    }
    const search: Search = { filter, isMet, ids: range, limit, found: [], next: range.last }
    let rows = await this.#check(search, { rows: newest, ask: this.#ask })
    this.#hurry?.begin()
    const ask = this.#hurry?.ask ?? this.#ask
    try {
      if (indexed !== undefined && isOpen(search)) await this.#askIndex(search, { indexed, ask })
      while (isOpen(search)) {
        if (this.#hurry !== undefined && search.found.length >= enough) break
        rows = await this.#check(search, { rows, ask })
      }
    } catch (error) {
      if (this.#hurry?.isOver() !== true || search.next === undefined) throw error
    }
    return search.next === undefined || search.found.length >= limit
      ? { found: search.found }
      : { found: search.found, rest: search.next }
  }

  /** Reads the newest rows that were not looked at, and checks each. Returns the number of rows of the next part. */
  async #check(search: Search, { rows, ask }: { readonly rows: number; readonly ask: Question }): Promise<number> {
    const { filter, isMet, ids, limit, found } = search
    const startedAt = performance.now()
    const read = await ask<Found & { isEnd: boolean }>(
      sql`WITH newest AS MATERIALIZED (
         SELECT ${columns}, ${isMet} AS "isMet" FROM sluice_records WHERE ${inLane(filter, { ...ids, last: search.next! })} ORDER BY id DESC LIMIT ${rows}
       )
       (SELECT id, bytes, "timeMs", value, false AS "isEnd" FROM newest WHERE "isMet" ORDER BY id DESC LIMIT ${limit - found.length})
       UNION ALL SELECT min(id), 0, 0, '', true FROM newest HAVING count(*) = ${rows}`,
    )
    const end = read.find(({ isEnd }) => isEnd)
    found.push(...read.filter(({ isEnd }) => !isEnd))
    search.next = end === undefined ? undefined : end.id - 1
    const ms = performance.now() - startedAt
    return Math.max(newest, Math.round(rows * Math.min(growth, partMs / ms)))
  }

  /** Asks the index of terms for some days at once, the newest one and then twice as many each time, until the terms are frequent there. */
  async #askIndex(
    search: Search,
    { indexed, ask }: { readonly indexed: IndexedConditions; readonly ask: Question },
  ): Promise<void> {
    const { filter, ids, limit, found } = search
    const { bucket, kind } = filter
    const last = search.next!
    const first = dayOf(msOfId(ids.first))
    const days = (await this.#days.list()).filter((day) => day >= first && firstIdOf(day * dayMs) <= last)
    for (let at = 0, size = 1; at < days.length && found.length < limit; at += size, size *= 2) {
      const part = days.slice(at, at + size)
      const [from, to] = [firstIdOf(part.at(-1)! * dayMs), firstIdOf((part[0]! + 1) * dayMs) - 1]
      // With the collation of the primary key the planner would use that, and read every row of the day.
      const ofPart = sql`sluice_records WHERE bucket = ${bucket} COLLATE "C" AND kind = ${kind} COLLATE "C"
        AND id BETWEEN ${Math.max(ids.first, from)} AND ${Math.min(last, to)}`
      // Who looks for as many records reads them all anyway.
      if (limit < frequent && (await hasMany(sql`${ofPart} AND ${indexed.isCandidate}`, ask))) return
      const rows = await ask<Found>(
        sql`SELECT ${columns} FROM ${ofPart} AND ${indexed.isMet} ORDER BY id DESC LIMIT ${limit - found.length}`,
      )
      found.push(...rows)
      search.next = from - 1
    }
    if (found.length < limit) search.next = undefined
  }

  /** The ids of the records that may have the times of the filter, to the minute at both ends. Undefined if there are none. */
  async withTimes({ bucket, kind, since, until }: RecordFilter, ids: Ids): Promise<Ids | undefined> {
    if (since === undefined && until === undefined) return ids
    const from = Math.min(Math.max(since ?? earliestMs, earliestMs), latestMs)
    const to = Math.min(Math.max(until ?? latestMs, earliestMs) + 1, latestMs + 1)
    const [firstHour, lastHour] = [Math.ceil(from / hourMs) * hourMs, Math.floor(to / hourMs) * hourMs]
    const spans = (stepMs: number, from: number, to: number) =>
      sql`(step_ms = ${stepMs} AND at_ms > ${Math.floor(from - stepMs)} AND at_ms < ${Math.ceil(to)})`
    const parts =
      firstHour < lastHour
        ? [spans(minuteMs, from, firstHour), spans(hourMs, firstHour, lastHour), spans(minuteMs, lastHour, to)]
        : [spans(minuteMs, from, to)]
    const [found] = await this.#ask<{ first: number | null; last: number | null }>(
      sql`SELECT min(first_id) AS first, max(last_id) AS last FROM sluice_spans
        WHERE bucket = ${bucket} AND kind = ${kind} AND (${joined(parts, ' OR ')})`,
    )
    if (found?.first == null || found.last == null) return undefined
    return { first: Math.max(ids.first, found.first), last: Math.min(ids.last, found.last) }
  }
}

/** True if there are at least as many as are frequent. The limit stands beside the question, which is planned as if all rows were read. */
async function hasMany(rows: Sql, ask: Question): Promise<boolean> {
  const [row] = await ask<{ count: number }>(
    sql`WITH found AS MATERIALIZED (SELECT 1 FROM ${rows})
      SELECT count(*) AS count FROM (SELECT 1 FROM found LIMIT ${frequent}) AS first`,
  )
  return row!.count === frequent
}

function inLane({ bucket, kind }: RecordFilter, { first, last }: Ids): Sql {
  return sql`bucket = ${bucket} AND kind = ${kind} AND id BETWEEN ${first} AND ${last}`
}

function isOpen({ found, limit, next }: Search): boolean {
  return next !== undefined && found.length < limit
}
