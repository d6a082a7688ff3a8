import { fitting, type Sized } from '../page-bytes.js'
import type { Arrivals, ArrivalsQuery, Missed, MissedQuery, Position, Receipts, RecordKind } from '../record-storage.js'
import { maxArrivalBytes } from '../records/limits.js'
import { type StoredRow, storedJson } from '../records/stored-record.js'
import { type Database, inLateTransaction } from './database.js'

/** Reads records forwards, as they have arrived. One writer gives out the ids, so they are committed in rising order. */
export class RecordTail {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  position({ bucket }: { readonly bucket: string }): Position {
    const { id: store } = this.#database.prepare('SELECT id FROM identity').get() as { id: string }
    return { store, logs: this.#newest({ kind: 'logs', bucket }), values: this.#newest({ kind: 'values', bucket }) }
  }

  /** Reads in one transaction: meanwhile the writer may forget records. */
  arrivals(query: ArrivalsQuery): Arrivals {
    return inLateTransaction(this.#database, () => this.#arrivals(query))
  }

  #arrivals({ kind, bucket, after, limit }: ArrivalsQuery): Arrivals {
    const found = this.#database
      .prepare('SELECT id, octet_length(record) AS bytes FROM records WHERE lane = ? AND id > ? ORDER BY id LIMIT ?')
      .all(this.#lane({ kind, bucket }), after, limit + 1) as (Sized & { id: number })[]
    const taken = fitting(found.slice(0, limit), maxArrivalBytes)
    const one = this.#database.prepare('SELECT id, received_at AS receivedMs, record FROM records WHERE id = ?')
    const records = taken.map(({ id }) => storedJson(one.get(id) as StoredRow))
    return {
      count: taken.length,
      json: `[${records.join(',')}]`,
      last: taken.at(-1)?.id ?? after,
      hasMore: taken.length < found.length,
    }
  }

  missed({ bucket, since }: MissedQuery): Missed {
    const counted = this.#database.prepare(
      'SELECT count(*) AS count, max(id) AS last FROM records WHERE lane = ? AND id > ?',
    )
    const after = (kind: RecordKind) =>
      counted.get(this.#lane({ kind, bucket }), since[kind]) as { count: number; last: number | null }
    const [logs, values] = [after('logs'), after('values')]
    return {
      counts: { logs: logs.count, values: values.count },
      position: { store: since.store, logs: logs.last ?? since.logs, values: values.last ?? since.values },
    }
  }

  oldest(): number | undefined {
    return this.receiptsAround(Number.MIN_SAFE_INTEGER).since
  }

  receiptsAround(ms: number): Receipts {
    const receipts = (sql: string) => (this.#database.prepare(sql).get(ms) as { at: number | null }).at ?? undefined
    return {
      before: receipts('SELECT max(received_at) AS at FROM records WHERE received_at < ?'),
      since: receipts('SELECT min(received_at) AS at FROM records WHERE received_at >= ?'),
    }
  }

  #newest(lane: Lane): number {
    // No record that is yet to come has an id up to that of a forgotten one.
    const last =
      'SELECT max(last_forgotten_id, coalesce((SELECT max(id) FROM records WHERE lane = ?), 0)) AS last FROM identity'
    return (this.#database.prepare(last).get(this.#lane(lane)) as { last: number }).last
  }

  /** Row id of the lane; 0, which no lane has, before its first record. */
  #lane({ kind, bucket }: Lane): number {
    const row = this.#database.prepare('SELECT id FROM lanes WHERE kind = ? AND bucket = ?').get(kind, bucket)
    return (row as { id: number } | undefined)?.id ?? 0
  }
}

interface Lane {
  readonly kind: RecordKind
  readonly bucket: string
}
