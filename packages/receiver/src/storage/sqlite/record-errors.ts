import {
  anyKind,
  type ErrorNames,
  type ErrorRecord,
  ErrorTallies,
  type ErrorTally,
  goneAtOnce,
  maxErrors,
  maxKinds,
  otherKinds,
  otherOf,
  stepsOf,
  sumOf,
} from '../records/error-tallies.js'
import type { Database, Statement } from './database.js'

/** What a lane has in the tables. */
interface Room {
  errors: number
  /** By application. */
  readonly kinds: Map<string, number>
}

/** An error that goes. */
interface Going extends ErrorNames {
  readonly number: number
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
  readonly #countErrors: Statement
  readonly #countKinds: Statement
  readonly #leastRecentKinds: Statement
  readonly #leastRecentErrors: Statement
  readonly #moveError: Statement
  readonly #moveSteps: Statement
  readonly #deleteSteps: Statement
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
    this.#findKind = database.prepare('SELECT 1 FROM errors WHERE lane = ? AND kind = ? AND app = ? LIMIT 1')
    this.#countErrors = database.prepare('SELECT count(*) AS errors FROM errors WHERE lane = ?')
    const isKind = `kind NOT IN ('${anyKind}', '${otherKinds.id}')`
    this.#countKinds = database.prepare(
      `SELECT app, count(DISTINCT kind) AS kinds FROM errors WHERE lane = ? AND ${isKind} GROUP BY app`,
    )
    const going = 'SELECT number, kind, app, env, version FROM errors WHERE lane = ?1'
    this.#leastRecentKinds = database.prepare(
      `${going} AND app = ?2 AND kind IN (SELECT kind FROM errors WHERE lane = ?1 AND app = ?2 AND ${isKind}
         GROUP BY kind ORDER BY max(last_id) LIMIT ${goneAtOnce.kinds})`,
    )
    this.#leastRecentErrors = database.prepare(
      `${going} AND NOT (kind = '${otherKinds.id}' AND app = '' AND env = '') ORDER BY last_id LIMIT ${goneAtOnce.errors}`,
    )
    this.#moveError = database.prepare(
      `INSERT INTO errors (lane, kind, app, env, version, number, records, first_id, last_id, first_ms, last_ms)
         SELECT lane, ?, ?, ?, ?, (SELECT max(number) + 1 FROM errors), records, first_id, last_id, first_ms, last_ms FROM errors WHERE number = ?
         ON CONFLICT (lane, kind, app, env, version) DO UPDATE SET records = records + excluded.records,
           first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id),
           first_ms = min(first_ms, excluded.first_ms), last_ms = max(last_ms, excluded.last_ms) RETURNING number`,
    )
    this.#moveSteps = database.prepare(
      `INSERT INTO error_steps (error, step_ms, at_ms, records) SELECT ?, step_ms, at_ms, records FROM error_steps WHERE error = ?
         ON CONFLICT DO UPDATE SET records = records + excluded.records`,
    )
    this.#deleteSteps = database.prepare('DELETE FROM error_steps WHERE error = ?')
  }

  /** All records are of one lane. */
  add(lane: number, records: readonly ErrorRecord[]): void {
    const tallies = this.#tallies.of(records)
    for (const tally of tallies) {
      const number = this.#changed(lane, tally) ?? this.#added(lane, tally)
      if (tally.kind === anyKind) continue
      for (const step of stepsOf(tally.records)) this.#addStep.run(number, step.stepMs, step.atMs, step.records)
    }
    this.#makeRoom(lane, tallies)
  }

  /** Takes records out of the counts. All are of one lane, and their rows are gone. Records from before the counts were never in them. */
  remove(lane: number, records: readonly ErrorRecord[]): void {
    for (const tally of this.#tallies.of(records)) {
      let rest: ErrorTally | undefined = tally
      while (rest !== undefined && rest.records.length > 0) {
        const { records } = this.#taken(lane, rest)
        // Those that are not here are counted with the errors that had to go.
        const other: ErrorNames | undefined = isLast(rest) ? undefined : otherOf(rest)
        rest = other && { ...other, texts: otherKinds, records }
      }
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

  #added(lane: number, tally: ErrorTally): number {
    const room = this.#room(lane)
    const { kind, app, texts } = tally
    if (texts !== undefined) {
      if (isCountedKind(tally) && !this.#hasKind(lane, tally)) room.kinds.set(app, (room.kinds.get(app) ?? 0) + 1)
      this.#addKind.run(lane, kind, texts.type, texts.message, texts.frame)
    }
    room.errors++
    const { records, firstId, lastId, firstMs, lastMs } = sumOf(tally.records)
    return (this.#add.get(lane, ...cells(tally), records, firstId, lastId, firstMs, lastMs) as { number: number })
      .number
  }

  /** Counts the errors that came least recently as others, where there are too many. */
  #makeRoom(lane: number, added: readonly ErrorNames[]): void {
    for (const app of new Set(added.map((error) => error.app))) {
      while ((this.#room(lane).kinds.get(app) ?? 0) > maxKinds) {
        this.#leave(lane, this.#leastRecentKinds.all(lane, app) as unknown as Going[])
      }
    }
    while (this.#room(lane).errors > maxErrors) {
      this.#leave(lane, this.#leastRecentErrors.all(lane) as unknown as Going[])
    }
  }

  #leave(lane: number, errors: readonly Going[]): void {
    for (const error of errors) {
      const other = otherOf(error)
      if (other !== undefined) {
        const { number } = this.#moveError.get(...cells(other), error.number) as { number: number }
        this.#addKind.run(lane, otherKinds.id, otherKinds.type, otherKinds.message, otherKinds.frame)
        this.#moveSteps.run(number, error.number)
        this.#deleteSteps.run(error.number)
      }
      this.#delete.run(error.number)
      this.#deleteKind.run(lane, error.kind)
    }
    this.#rooms.delete(lane)
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
    if (records <= 0) {
      const room = this.#room(lane)
      this.#delete.run(row.number)
      this.#deleteKind.run(lane, tally.kind)
      room.errors--
      if (isCountedKind(tally) && !this.#hasKind(lane, tally)) room.kinds.set(tally.app, room.kinds.get(tally.app)! - 1)
    }
    return { ...tally, records: tally.records.filter((record) => !isCounted(record)) }
  }

  #hasKind(lane: number, { kind, app }: ErrorNames): boolean {
    return this.#findKind.get(lane, kind, app) !== undefined
  }

  #room(lane: number): Room {
    let room = this.#rooms.get(lane)
    if (room === undefined) {
      const { errors } = this.#countErrors.get(lane) as { errors: number }
      const kinds = this.#countKinds.all(lane) as { app: string; kinds: number }[]
      room = { errors, kinds: new Map(kinds.map((each) => [each.app, each.kinds])) }
      this.#rooms.set(lane, room)
    }
    return room
  }
}

function cells({ kind, app, env, version }: ErrorNames) {
  return [kind, app, env, version] as const
}

/** True for a kind that takes room of its application. */
function isCountedKind({ kind }: ErrorNames): boolean {
  return kind !== anyKind && kind !== otherKinds.id
}

function isLast({ kind, app, env }: ErrorNames): boolean {
  return kind === otherKinds.id && app === '' && env === ''
}
