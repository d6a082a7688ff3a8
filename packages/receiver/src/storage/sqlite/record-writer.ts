import { recordTimeMs } from '../records/record-times.js'
import type { WrittenRecord } from '../records/written-records.js'
import type { Repeated } from '../repeated-attempts.js'
import type { SqliteAttempts } from './attempts.js'
import type { Database, Statement } from './database.js'
import { RecordErrors } from './record-errors.js'
import { lastGivenId } from './record-ids.js'
import { RecordRemoval } from './record-removal.js'
import { RecordTallies } from './record-tallies.js'
import { Spans } from './spans.js'

/** Writes groups of records, and deletes old ones. The caller provides the transaction of each group. */
export class RecordWriter {
  readonly #attempts: SqliteAttempts
  readonly #spans: Spans
  readonly #tallies: RecordTallies
  readonly #errors: RecordErrors
  readonly #removal: RecordRemoval
  readonly #insert: Statement
  readonly #lastId: Statement
  readonly #addLane: Statement
  readonly #findLane: Statement
  readonly #lanes = new Map<string, number>()

  constructor(database: Database, attempts: SqliteAttempts) {
    this.#attempts = attempts
    this.#spans = new Spans(database)
    this.#tallies = new RecordTallies(database)
    this.#errors = new RecordErrors(database)
    this.#removal = new RecordRemoval(database, { tallies: this.#tallies, errors: this.#errors })
    this.#insert = database.prepare(
      'INSERT INTO records (id, lane, unused, received_at, time_ms, record) VALUES (?, ?, 0, ?, ?, ?)',
    )
    this.#lastId = database.prepare(lastGivenId)
    this.#addLane = database.prepare('INSERT OR IGNORE INTO lanes (kind, bucket) VALUES (?, ?)')
    this.#findLane = database.prepare('SELECT id FROM lanes WHERE kind = ? AND bucket = ?')
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

  /** Deletes some of the records that were received before a time in ms since 1970. Returns their number. */
  removeSome(receivedBeforeMs: number): number {
    return this.#removal.removeSome(receivedBeforeMs)
  }

  /** Callers call this after a rollback: the rows behind the caches are gone. */
  forget(): void {
    this.#lanes.clear()
    this.#tallies.forget()
    this.#errors.forget()
    this.#spans.forget()
  }

  /** All records are of one lane. */
  #store(records: readonly WrittenRecord[]): void {
    const receivedAt = Date.now()
    const lane = this.#lane(records[0]!)
    let { id } = this.#lastId.get() as { id: number }
    const timed = records.map(({ timeStamp, labels, json }) => ({
      id: ++id,
      timeMs: recordTimeMs(timeStamp),
      labels,
      json,
    }))
    for (const { id, timeMs, json } of timed) {
      this.#insert.run(id, lane, receivedAt, timeMs, json)
      this.#spans.extend({ lane, id, timeMs })
    }
    this.#tallies.add({ lane, lastId: id }, timed)
    this.#errors.add(lane, timed)
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
}

/** The records by the name of their lane. */
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

/** The idempotency keys of the records that have one. */
function keysOf(records: readonly WrittenRecord[]): string[] {
  return records.flatMap(({ idempotencyKey }) => (idempotencyKey === '' ? [] : [idempotencyKey]))
}

/** The records without a key, and the first record of each new key. */
function firstAttempts(records: readonly WrittenRecord[], newKeys: Set<string>): WrittenRecord[] {
  return records.filter(({ idempotencyKey }) => idempotencyKey === '' || newKeys.delete(idempotencyKey))
}
