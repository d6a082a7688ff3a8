import {
  anyKind,
  type ErrorNames,
  type ErrorRecord,
  ErrorTallies,
  type ErrorTally,
  maxErrors,
  maxKinds,
  otherKinds,
  stepsOf,
  sumOf,
} from '../records/error-tallies.js'
import type { Database, Statement } from './database.js'

/** What a lane has in the tables. */
interface Room {
  errors: number
  kinds: number
}

interface Row {
  readonly number: number
  /** Records of the error that came before this one are not counted here. */
  readonly firstId: number
}

/** Counts the errors of one transaction in the tables: by kind, application, environment and version, and by time. */
export class RecordErrors {
  readonly #find: Statement
  readonly #add: Statement
  readonly #change: Statement
  readonly #take: Statement
  readonly #delete: Statement
  readonly #addStep: Statement
  readonly #takeStep: Statement
  readonly #deleteStep: Statement
  readonly #addKind: Statement
  readonly #deleteKind: Statement
  readonly #findKind: Statement
  readonly #countRows: Statement
  readonly #tallies = new ErrorTallies()
  readonly #rooms = new Map<number, Room>()

  constructor(database: Database) {
    const names = 'lane = ? AND kind = ? AND app = ? AND env = ? AND version = ?'
    this.#find = database.prepare(`SELECT number, first_id AS firstId FROM errors WHERE ${names}`)
    this.#add = database.prepare(
      `INSERT INTO errors (lane, kind, app, env, version, number, records, first_id, last_id, first_ms, last_ms)
         VALUES (?, ?, ?, ?, ?, (SELECT coalesce(max(number), 0) + 1 FROM errors), ?, ?, ?, ?, ?) RETURNING number`,
    )
    this.#change = database.prepare(
      `UPDATE errors SET records = records + ?, last_id = max(last_id, ?), first_ms = min(first_ms, ?), last_ms = max(last_ms, ?)
         WHERE ${names} RETURNING number`,
    )
    // When the other records of the first minute came is not known any more.
    this.#take = database.prepare(
      `UPDATE errors SET records = records - ?, first_ms = max(first_ms,
         coalesce((SELECT min(at_ms) FROM error_steps WHERE error = errors.number AND step_ms = 60000), first_ms))
         WHERE number = ? RETURNING records`,
    )
    this.#delete = database.prepare('DELETE FROM errors WHERE number = ?')
    this.#addStep = database.prepare(
      `INSERT INTO error_steps (error, step_ms, at_ms, records) VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET records = records + excluded.records`,
    )
    const step = 'error = ? AND step_ms = ? AND at_ms = ?'
    this.#takeStep = database.prepare(`UPDATE error_steps SET records = records - ? WHERE ${step} RETURNING records`)
    this.#deleteStep = database.prepare(`DELETE FROM error_steps WHERE ${step}`)
    this.#addKind = database.prepare(
      'INSERT INTO error_kinds (lane, id, type, message, frame) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    )
    this.#deleteKind = database.prepare(
      `DELETE FROM error_kinds WHERE lane = ?1 AND id = ?2 AND NOT EXISTS (SELECT 1 FROM errors WHERE lane = ?1 AND kind = ?2)`,
    )
    this.#findKind = database.prepare('SELECT 1 FROM error_kinds WHERE lane = ? AND id = ?')
    this.#countRows = database.prepare(
      `SELECT (SELECT count(*) FROM errors WHERE lane = ?1) AS errors, (SELECT count(*) FROM error_kinds WHERE lane = ?1) AS kinds`,
    )
  }

  /** All records are of one lane. */
  add(lane: number, records: readonly ErrorRecord[]): void {
    for (const tally of this.#tallies.of(records)) {
      const number = this.#changed(lane, tally) ?? this.#added(lane, tally)
      if (number === undefined || tally.kind === anyKind) continue
      for (const step of stepsOf(tally.records)) this.#addStep.run(number, step.stepMs, step.atMs, step.records)
    }
  }

  /** Takes records out of the counts. All are of one lane, and their rows are gone. Records from before the counts were never in them. */
  remove(lane: number, records: readonly ErrorRecord[]): void {
    for (const tally of this.#tallies.of(records)) {
      const rest = this.#taken(lane, tally)
      if (rest.records.length > 0 && tally.kind !== anyKind) this.#taken(lane, asOther(rest))
    }
  }

  /** Callers call this after a rollback: the rows behind the cache are gone. */
  forget(): void {
    this.#rooms.clear()
  }

  #changed(lane: number, tally: ErrorTally): number | undefined {
    const { records, lastId, firstMs, lastMs } = sumOf(tally.records)
    const row = this.#change.get(records, lastId, firstMs, lastMs, lane, ...cells(tally))
    return (row as { number: number } | undefined)?.number
  }

  /** Undefined for a version that finds no room. */
  #added(lane: number, tally: ErrorTally): number | undefined {
    const room = this.#room(lane)
    const { kind, texts } = tally
    const isNewKind = texts !== undefined && this.#findKind.get(lane, kind) === undefined
    if (kind !== otherKinds.id && (room.errors >= maxErrors || (isNewKind && room.kinds >= maxKinds))) {
      if (kind === anyKind) return undefined
      const other = asOther(tally)
      return this.#changed(lane, other) ?? this.#added(lane, other)
    }
    room.errors++
    if (isNewKind) {
      room.kinds++
      this.#addKind.run(lane, kind, texts.type, texts.message, texts.frame)
    }
    const { records, firstId, lastId, firstMs, lastMs } = sumOf(tally.records)
    return (this.#add.get(lane, ...cells(tally), records, firstId, lastId, firstMs, lastMs) as { number: number })
      .number
  }

  /** Takes the records that are counted in the row of the error. Returns the others. */
  #taken(lane: number, tally: ErrorTally): ErrorTally {
    const row = this.#find.get(lane, ...cells(tally)) as Row | undefined
    if (row === undefined) return tally
    const isCounted = ({ id }: { readonly id: number }) => id >= row.firstId
    const counted = tally.records.filter(isCounted)
    if (counted.length === 0) return tally
    if (tally.kind !== anyKind) {
      for (const { stepMs, atMs, records } of stepsOf(counted)) {
        const left = this.#takeStep.get(records, row.number, stepMs, atMs) as { records: number } | undefined
        if (left?.records === 0) this.#deleteStep.run(row.number, stepMs, atMs)
      }
    }
    const { records } = this.#take.get(counted.length, row.number) as { records: number }
    if (records === 0) {
      this.#delete.run(row.number)
      this.#deleteKind.run(lane, tally.kind)
      this.#rooms.delete(lane)
    }
    return { ...tally, records: tally.records.filter((record) => !isCounted(record)) }
  }

  #room(lane: number): Room {
    let room = this.#rooms.get(lane)
    if (room === undefined) {
      room = { ...(this.#countRows.get(lane) as Room) }
      this.#rooms.set(lane, room)
    }
    return room
  }
}

function cells({ kind, app, env, version }: ErrorNames) {
  return [kind, app, env, version] as const
}

function asOther({ records }: ErrorTally): ErrorTally {
  return { kind: otherKinds.id, app: '', env: '', version: '', texts: otherKinds, records }
}
