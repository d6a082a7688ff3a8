import type { NewRecord } from '../record-storage.js'
import type { Attempts } from './attempts.js'
import type { Database, Statement } from './open-sqlite.js'
import { recordTimeMs } from './record-time.js'
import { toSqlText } from './sql-text.js'

/** How many ids a span covers at most. */
const spanLength = 10_000
/** Series that are known by heart; more than this many and they are looked up again. */
const maxKnownSeries = 10_000

interface Span {
  readonly lane: number
  readonly firstId: number
  lastId: number
  earliestMs: number
  latestMs: number
}

/** Puts groups of records into their tables. Each group is a transaction of the caller's. */
export class RecordWriter {
  readonly #attempts: Attempts
  readonly #insert: Statement
  readonly #addSeries: Statement
  readonly #findSeries: Statement
  readonly #count: Statement
  readonly #addLane: Statement
  readonly #findLane: Statement
  readonly #saveSpan: Statement
  readonly #lanes = new Map<string, number>()
  readonly #series = new Map<string, number>()
  readonly #spans = new Map<number, Span>()

  constructor(database: Database, attempts: Attempts) {
    this.#attempts = attempts
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
    this.#saveSpan = database.prepare(
      `INSERT INTO spans (lane, first_id, last_id, earliest_ms, latest_ms) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET last_id = excluded.last_id, earliest_ms = excluded.earliest_ms, latest_ms = excluded.latest_ms`,
    )
  }

  /** Store each record that is not a further attempt at an earlier one. */
  write(records: readonly NewRecord[]): void {
    const receivedAt = Date.now()
    const counts = new Map<number, number>()
    const grown = new Set<number>()
    this.#attempts.forget(records.length)
    for (const { kind, bucket, idempotencyKey, record } of records) {
      if (idempotencyKey !== undefined && !this.#attempts.add({ scope: `${kind} ${bucket}`, key: idempotencyKey }))
        continue
      const lane = this.#lane(kind, bucket)
      const series = this.#seriesOf(record, lane)
      const timeMs = recordTimeMs(record.timeStamp)
      const { lastInsertRowid } = this.#insert.run(lane, series, receivedAt, timeMs, JSON.stringify(record))
      counts.set(series, (counts.get(series) ?? 0) + 1)
      this.#extendSpan({ lane, id: Number(lastInsertRowid), timeMs })
      grown.add(lane)
    }
    for (const [series, added] of counts) this.#count.run(added, series)
    for (const lane of grown) this.#save(this.#spans.get(lane)!)
  }

  /** To be called when the transaction was rolled back: what it had made is not there. */
  forget(): void {
    this.#lanes.clear()
    this.#series.clear()
    this.#spans.clear()
  }

  #lane(kind: string, bucket: string): number {
    const name = `${kind} ${bucket}`
    const known = this.#lanes.get(name)
    if (known !== undefined) return known
    this.#addLane.run(kind, bucket)
    const { id } = this.#findLane.get(kind, bucket) as { id: number }
    this.#lanes.set(name, id)
    return id
  }

  #seriesOf({ level, eventId, appName, env }: NewRecord['record'], lane: number): number {
    const name = JSON.stringify([level ?? null, eventId ?? null, appName, env ?? null])
    const known = this.#series.get(`${lane} ${name}`)
    if (known !== undefined) return known
    const texts = [level, appName, env].map((text) => (text === undefined ? null : toSqlText(text)))
    const [levelText = null, appNameText = null, envText = null] = texts
    this.#addSeries.run(lane, name, levelText, eventId ?? null, appNameText, envText)
    const { id } = this.#findSeries.get(lane, name) as { id: number }
    if (this.#series.size >= maxKnownSeries) this.#series.clear()
    this.#series.set(`${lane} ${name}`, id)
    return id
  }

  #extendSpan({ lane, id, timeMs }: { lane: number; id: number; timeMs: number }): void {
    const span = this.#spans.get(lane)
    if (span === undefined || id >= span.firstId + spanLength) {
      if (span !== undefined) this.#save(span)
      this.#spans.set(lane, { lane, firstId: id, lastId: id, earliestMs: timeMs, latestMs: timeMs })
      return
    }
    span.lastId = id
    span.earliestMs = Math.min(span.earliestMs, timeMs)
    span.latestMs = Math.max(span.latestMs, timeMs)
  }

  #save({ lane, firstId, lastId, earliestMs, latestMs }: Span): void {
    this.#saveSpan.run(lane, firstId, lastId, earliestMs, latestMs)
  }
}
