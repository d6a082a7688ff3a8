import type { Database, Statement } from './database.js'

/** A span covers at most this many ids. */
const spanLength = 10_000

interface Span {
  readonly lane: number
  readonly firstId: number
  lastId: number
  earliestMs: number
  latestMs: number
}

/** The newest span of each lane. */
export class Spans {
  readonly #save: Statement
  readonly #newest = new Map<number, Span>()

  constructor(database: Database) {
    this.#save = database.prepare(
      `INSERT INTO spans (lane, first_id, last_id, earliest_ms, latest_ms) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET last_id = excluded.last_id, earliest_ms = excluded.earliest_ms, latest_ms = excluded.latest_ms`,
    )
  }

  /** Adds a record to the span. The next `save` of the lane writes it. */
  extend({ lane, id, timeMs }: { lane: number; id: number; timeMs: number }): void {
    const span = this.#newest.get(lane)
    if (span === undefined || id >= span.firstId + spanLength) {
      if (span !== undefined) this.save(lane)
      this.#newest.set(lane, { lane, firstId: id, lastId: id, earliestMs: timeMs, latestMs: timeMs })
      return
    }
    span.lastId = id
    span.earliestMs = Math.min(span.earliestMs, timeMs)
    span.latestMs = Math.max(span.latestMs, timeMs)
  }

  save(lane: number): void {
    const { firstId, lastId, earliestMs, latestMs } = this.#newest.get(lane)!
    this.#save.run(lane, firstId, lastId, earliestMs, latestMs)
  }

  /** Callers call this after a rollback. */
  forget(): void {
    this.#newest.clear()
  }
}
