import type { Repeated } from '../repeated-attempts.js'
import type { Attempts } from './attempts.js'
import type { Database, Statement } from './database.js'
import { Spans } from './spans.js'
import { toSqlText } from './sql-text.js'
import type { SeriesFields, WrittenRecord } from './written-records.js'

/** The cache of series is cleared when it reaches this size. */
const maxKnownSeries = 10_000

/** Writes groups of records. The caller provides the transaction of each group. */
export class RecordWriter {
  readonly #attempts: Attempts
  readonly #spans: Spans
  readonly #insert: Statement
  readonly #addSeries: Statement
  readonly #findSeries: Statement
  readonly #count: Statement
  readonly #addLane: Statement
  readonly #findLane: Statement
  readonly #lanes = new Map<string, number>()
  readonly #series = new Map<string, number>()

  constructor(database: Database, attempts: Attempts) {
    this.#attempts = attempts
    this.#spans = new Spans(database)
    this.#insert = database.prepare(
      'INSERT INTO records (lane, series, received_at, time_ms, record) VALUES (?, ?, ?, ?, ?)',
    )
    this.#addLane = database.prepare('INSERT OR IGNORE INTO lanes (kind, bucket) VALUES (?, ?)')
    this.#findLane = database.prepare('SELECT id FROM lanes WHERE kind = ? AND bucket = ?')
    this.#addSeries = database.prepare(
      'INSERT OR IGNORE INTO series (lane, name, level, event_id, app_name, env) VALUES (?, ?, ?, ?, ?, ?)',
    )
    this.#findSeries = database.prepare('SELECT id FROM series WHERE lane = ? AND name = ?')
    this.#count = database.prepare('UPDATE series SET records = records + ? WHERE id = ?')
  }

  /** Stores the records, except repeated attempts. Returns the counts of those. */
  write(records: readonly WrittenRecord[]): Repeated[] {
    const repeated: Repeated[] = []
    this.#attempts.forget(records.length)
    for (const [scope, ofLane] of byLane(records)) {
      const first = firstAttempts(ofLane, this.#attempts.addAll(scope, keysOf(ofLane)))
      if (first.length > 0) this.#store(first)
      const count = ofLane.length - first.length
      const { kind, bucket } = ofLane[0]!
      if (count > 0) repeated.push({ kind, bucket, count })
    }
    return repeated
  }

  /** Callers call this after a rollback: the rows behind the caches are gone. */
  forget(): void {
    this.#lanes.clear()
    this.#series.clear()
    this.#spans.forget()
  }

  /** All records are of one lane. */
  #store(records: readonly WrittenRecord[]): void {
    const receivedAt = Date.now()
    const lane = this.#lane(records[0]!)
    const counts = new Map<number, number>()
    for (const { timeStamp, series: name, json } of records) {
      const series = this.#seriesOf(name, lane)
      const timeMs = recordTimeMs(timeStamp)
      const { lastInsertRowid } = this.#insert.run(lane, series, receivedAt, timeMs, json)
      counts.set(series, (counts.get(series) ?? 0) + 1)
      this.#spans.extend({ lane, id: Number(lastInsertRowid), timeMs })
    }
    for (const [series, added] of counts) this.#count.run(added, series)
    this.#spans.save(lane)
  }

  #lane({ kind, bucket }: WrittenRecord): number {
    const name = `${kind} ${bucket}`
    const known = this.#lanes.get(name)
    if (known !== undefined) return known
    this.#addLane.run(kind, bucket)
    const { id } = this.#findLane.get(kind, bucket) as { id: number }
    this.#lanes.set(name, id)
    return id
  }

  #seriesOf(name: string, lane: number): number {
    const known = this.#series.get(`${lane} ${name}`)
    if (known !== undefined) return known
    const [level, eventId, appName, env] = JSON.parse(name) as SeriesFields
    const levelText = level === null ? null : toSqlText(level)
    this.#addSeries.run(lane, name, levelText, eventId, toSqlText(appName), env === null ? null : toSqlText(env))
    const { id } = this.#findSeries.get(lane, name) as { id: number }
    if (this.#series.size >= maxKnownSeries) this.#series.clear()
    this.#series.set(`${lane} ${name}`, id)
    return id
  }
}

function byLane(records: readonly WrittenRecord[]): Map<string, WrittenRecord[]> {
  const lanes = new Map<string, WrittenRecord[]>()
  for (const record of records) {
    const name = `${record.kind} ${record.bucket}`
    const others = lanes.get(name)
    if (others === undefined) lanes.set(name, [record])
    else others.push(record)
  }
  return lanes
}

function keysOf(records: readonly WrittenRecord[]): string[] {
  return records.flatMap(({ idempotencyKey }) => (idempotencyKey === '' ? [] : [idempotencyKey]))
}

/** The records without a key, and the first record of each new key. */
function firstAttempts(records: readonly WrittenRecord[], newKeys: Set<string>): WrittenRecord[] {
  return records.filter(({ idempotencyKey }) => idempotencyKey === '' || newKeys.delete(idempotencyKey))
}

/** A smaller time is in seconds (the limit is the year 5138), a larger one in milliseconds (the limit is 1973). */
const secondsBelow = 1e11

/**
 * The time of a record in ms since 1970. The API's document does not name the unit. Records are stored as they were sent; only filters
 * need this value.
 */
function recordTimeMs(timeStamp: number): number {
  return Math.abs(timeStamp) < secondsBelow ? timeStamp * 1000 : timeStamp
}
