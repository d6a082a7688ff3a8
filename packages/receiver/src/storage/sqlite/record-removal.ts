import { fitting, type Sized } from '../page-bytes.js'
import type { RecordFields } from '../record-storage.js'
import type { ErrorRecord } from '../records/error-tallies.js'
import { labelsOf } from '../records/written-records.js'
import type { Database, Statement } from './database.js'
import type { RecordErrors } from './record-errors.js'
import type { RecordTallies } from './record-tallies.js'

/** Most records of one step. It takes 5 to 20 ms, in which nothing is written. */
const maxRemoved = 400
/** Most bytes of records in one step, unless it is a single record: SQLite reads all of them to free their pages. */
const maxRemovedBytes = 1_048_576

interface Row extends Sized {
  readonly id: number
  readonly lane: number
  readonly timeMs: number
}

/** Deletes the oldest records in steps. The caller provides the transaction of each step. */
export class RecordRemoval {
  readonly #tallies: RecordTallies
  readonly #errors: RecordErrors
  readonly #oldest: Statement
  readonly #find: Statement
  readonly #delete: Statement
  readonly #keepIds: Statement
  readonly #deleteSpans: Statement

  constructor(
    database: Database,
    { tallies, errors }: { readonly tallies: RecordTallies; readonly errors: RecordErrors },
  ) {
    this.#tallies = tallies
    this.#errors = errors
    this.#oldest = database.prepare(
      `SELECT id, lane, time_ms AS timeMs, octet_length(record) AS bytes FROM records INDEXED BY records_by_receipt
         WHERE received_at < ? ORDER BY received_at, id LIMIT ${maxRemoved}`,
    )
    this.#find = database.prepare('SELECT record FROM records WHERE id = ?')
    this.#delete = database.prepare('DELETE FROM records WHERE id = ?')
    this.#keepIds = database.prepare('UPDATE identity SET last_forgotten_id = max(last_forgotten_id, ?)')
    this.#deleteSpans = database.prepare(
      `DELETE FROM spans WHERE lane = ?1
         AND last_id < coalesce((SELECT min(id) FROM records WHERE lane = ?1), ${Number.MAX_SAFE_INTEGER})`,
    )
  }

  /** Deletes one step of the records that were received before a time in ms since 1970. Returns their number. */
  removeSome(receivedBeforeMs: number): number {
    const rows = fitting(this.#oldest.all(receivedBeforeMs) as Row[], maxRemovedBytes)
    const lanes = new Map<number, ErrorRecord[]>()
    for (const { id, lane, timeMs } of rows) {
      const { record } = this.#find.get(id) as { record: string }
      const counted = { id, labels: labelsOf(JSON.parse(record) as RecordFields), timeMs, json: record }
      const others = lanes.get(lane)
      if (others === undefined) lanes.set(lane, [counted])
      else others.push(counted)
      this.#delete.run(id)
    }
    if (rows.length > 0) this.#keepIds.run(Math.max(...rows.map(({ id }) => id)))
    for (const [lane, records] of lanes) {
      this.#tallies.remove(lane, records)
      this.#errors.remove(lane, records)
      this.#deleteSpans.run(lane)
    }
    return rows.length
  }
}
