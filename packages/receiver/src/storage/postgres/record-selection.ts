import type { RecordFilter } from '../record-storage.js'
import { earliestMs, hourMs, latestMs, minuteMs } from '../records/record-times.js'
import { raw, type Sql, sql } from '../sql.js'
import type { Days } from './days.js'
import type { Question } from './postgres-rows.js'
import { conditionsOf } from './record-conditions.js'
import { dayOf, firstIdOf, msOfId } from './record-ids.js'

/** So many of the newest records are read one by one before an index is asked. */
const newest = 5000
/** Each further part of the records that are read one by one is larger by this factor. */
const growth = 8
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

/** A part of a search. */
interface Search {
  readonly filter: RecordFilter
  readonly isMet: Sql
  readonly ids: Ids
  readonly limit: number
}

interface Part {
  readonly matching: Found[]
  /** The largest id that was not looked at, if there are more. */
  readonly next: number | undefined
}

const columns = raw('id, octet_length(record) AS bytes, time_ms AS "timeMs", value')

/**
 * Finds the newest records of a filter. Frequent ones are among the newest records of the lane, which are read one by one. Rare ones are then looked up
 * in the index of terms, day by day: it has no order, so that it must never be asked for frequent ones.
 */
export class RecordSelection {
  readonly #ask: Question
  readonly #days: Days

  constructor(ask: Question, days: Days) {
    this.#ask = ask
    this.#days = days
  }

  /** The newest matching records, at most `limit`. */
  async newest(
    filter: RecordFilter,
    { ids = allIds, limit }: { readonly ids?: Ids; readonly limit: number },
  ): Promise<Found[]> {
    const conditions = conditionsOf(filter)
    const range = await this.withTimes(filter, ids)
    if (conditions === undefined || range === undefined) return []
    const { isMet, hasTerms } = conditions
    if (isMet === undefined) {
      return this.#ask(
        sql`SELECT ${columns} FROM sluice_records WHERE ${inLane(filter, range)} ORDER BY id DESC LIMIT ${limit}`,
      )
    }
    const found: Found[] = []
    let rest: Ids | undefined = range
    for (let rows = newest; rest !== undefined && found.length < limit; rows *= growth) {
      const left = { filter, isMet, ids: rest, limit: limit - found.length }
      const { matching, next }: Part = await this.#checked(left, rows)
      found.push(...matching)
      rest = next === undefined ? undefined : { first: rest.first, last: next }
      if (hasTerms) break
    }
    if (rest === undefined || found.length >= limit) return found
    return [...found, ...(await this.#indexed({ filter, isMet, ids: rest, limit: limit - found.length }))]
  }

  /** Reads the newest rows and checks each. Returns the id from which to go on, if there may be more. */
  async #checked({ filter, isMet, ids, limit }: Search, rows: number): Promise<Part> {
    const found = await this.#ask<Found & { isEnd: boolean }>(
      sql`WITH newest AS MATERIALIZED (
         SELECT ${columns}, terms, time_ms FROM sluice_records WHERE ${inLane(filter, ids)} ORDER BY id DESC LIMIT ${rows}
       )
       (SELECT id, bytes, "timeMs", value, false AS "isEnd" FROM newest WHERE ${isMet} ORDER BY id DESC LIMIT ${limit})
       UNION ALL SELECT min(id), 0, 0, '', true FROM newest HAVING count(*) = ${rows}`,
    )
    const end = found.find(({ isEnd }) => isEnd)
    return { matching: found.filter(({ isEnd }) => !isEnd), next: end === undefined ? undefined : end.id - 1 }
  }

  /** Asks the index of terms for some days at once: the newest one, and then twice as many each time. */
  async #indexed({ filter, isMet, ids, limit }: Search): Promise<Found[]> {
    const { bucket, kind } = filter
    const first = dayOf(msOfId(ids.first))
    const days = (await this.#days.list()).filter((day) => day >= first && firstIdOf(day * dayMs) <= ids.last)
    const found: Found[] = []
    for (let at = 0, size = 1; at < days.length && found.length < limit; at += size, size *= 2) {
      const part = days.slice(at, at + size)
      const [from, to] = [firstIdOf(part.at(-1)! * dayMs), firstIdOf((part[0]! + 1) * dayMs) - 1]
      // With the collation of the primary key the planner would use that, and read every row of the day.
      const rows = await this.#ask<Found>(
        sql`SELECT ${columns} FROM sluice_records WHERE bucket = ${bucket} COLLATE "C" AND kind = ${kind} COLLATE "C"
          AND id BETWEEN ${Math.max(ids.first, from)} AND ${Math.min(ids.last, to)} AND ${isMet}
          ORDER BY id DESC LIMIT ${limit - found.length}`,
      )
      found.push(...rows)
    }
    return found
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
