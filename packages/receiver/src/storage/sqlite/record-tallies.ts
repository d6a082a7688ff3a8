import { maxNameLength, maxNames } from '../records/named-fields.js'
import { type CountedRecord, type NameTally, Tallies } from '../records/tallies.js'
import type { Database, Statement } from './database.js'

/** The cache is cleared when it has the names of this number of fields. */
const maxKnown = 100

/** The names of a field of a lane. */
interface KnownNames {
  readonly names: Set<string>
  /** False while there may be records of a name that found no room: the count of a name that came now would lack those. */
  isComplete: boolean
}

/** Counts the records of one transaction in the tables: by lane, by value and time, and by the values of fields. */
export class RecordTallies {
  readonly #addRecords: Statement
  readonly #addCount: Statement
  readonly #takeCount: Statement
  readonly #deleteCount: Statement
  readonly #addName: Statement
  readonly #takeName: Statement
  readonly #deleteName: Statement
  readonly #findNames: Statement
  readonly #findUncounted: Statement
  readonly #addUncounted: Statement
  readonly #deleteUncounted: Statement
  readonly #tallies = new Tallies()
  readonly #known = new Map<string, KnownNames>()

  constructor(database: Database) {
    this.#addRecords = database.prepare('UPDATE lanes SET records = records + ? WHERE id = ?')
    this.#addCount = database.prepare(
      `INSERT INTO counts (lane, step_ms, at_ms, value, records, last_ms) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET records = records + excluded.records, last_ms = max(last_ms, excluded.last_ms)`,
    )
    const count = 'lane = ? AND step_ms = ? AND at_ms = ? AND value = ?'
    this.#takeCount = database.prepare(`UPDATE counts SET records = records - ? WHERE ${count} RETURNING records`)
    this.#deleteCount = database.prepare(`DELETE FROM counts WHERE ${count}`)
    this.#addName = database.prepare(
      'INSERT INTO names (lane, field, name, records) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET records = records + excluded.records',
    )
    const name = 'lane = ? AND field = ? AND name = ?'
    this.#takeName = database.prepare(`UPDATE names SET records = records - ? WHERE ${name} RETURNING records`)
    this.#deleteName = database.prepare(`DELETE FROM names WHERE ${name}`)
    this.#findNames = database.prepare('SELECT name FROM names WHERE lane = ? AND field = ?')
    this.#findUncounted = database.prepare('SELECT 1 FROM uncounted_names WHERE lane = ? AND field = ?')
    this.#addUncounted = database.prepare(
      'INSERT INTO uncounted_names (lane, field, last_id) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET last_id = excluded.last_id',
    )
    this.#deleteUncounted = database.prepare(
      'DELETE FROM uncounted_names WHERE lane = ?1 AND last_id < coalesce((SELECT min(id) FROM records WHERE lane = ?1), last_id + 1)',
    )
  }

  /** All records are of one lane; the last of them has the id. */
  add({ lane, lastId }: { readonly lane: number; readonly lastId: number }, records: readonly CountedRecord[]): void {
    this.#addRecords.run(records.length, lane)
    for (const { stepMs, atMs, value, records: added, lastMs } of this.#tallies.counts(records)) {
      this.#addCount.run(lane, stepMs, atMs, value, added, lastMs)
    }
    const uncounted = new Set<string>()
    const isKnown = (each: Pick<NameTally, 'field' | 'name'>) => this.#isKnown({ lane, ...each }, uncounted)
    for (const { field, name, records: added } of this.#tallies.names(records, isKnown)) {
      this.#addName.run(lane, field, name, added)
    }
    for (const field of uncounted) {
      this.#addUncounted.run(lane, field, lastId)
      this.#namesOf(lane, field).isComplete = false
    }
  }

  /** Takes records out of the counts. All are of one lane, and their rows are gone. The time of a count's last record stays as it is. */
  remove(lane: number, records: readonly CountedRecord[]): void {
    this.#addRecords.run(-records.length, lane)
    for (const { stepMs, atMs, value, records: removed } of this.#tallies.counts(records)) {
      const left = this.#takeCount.get(removed, lane, stepMs, atMs, value) as { records: number } | undefined
      if (left?.records === 0) this.#deleteCount.run(lane, stepMs, atMs, value)
    }
    for (const { field, name, records: removed } of this.#tallies.names(records, () => true)) {
      const left = this.#takeName.get(removed, lane, field, name) as { records: number } | undefined
      if (left?.records !== 0) continue
      this.#deleteName.run(lane, field, name)
      this.#known.get(keyOf(lane, field))?.names.delete(name)
    }
    if (this.#deleteUncounted.run(lane).changes > 0) this.#known.clear()
  }

  /** Callers call this after a rollback: the rows behind the caches are gone. */
  forget(): void {
    this.#known.clear()
  }

  /** True for a known name, and for a new one while there is room. So the count of a known name is always complete. */
  #isKnown(
    { lane, field, name }: Pick<NameTally, 'field' | 'name'> & { lane: number },
    uncounted: Set<string>,
  ): boolean {
    const { names, isComplete } = this.#namesOf(lane, field)
    if (names.has(name)) return true
    if (name.length > maxNameLength) return false
    if (!isComplete || names.size >= maxNames) {
      uncounted.add(field)
      return false
    }
    names.add(name)
    return true
  }

  #namesOf(lane: number, field: string): KnownNames {
    const key = keyOf(lane, field)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const names = new Set((this.#findNames.all(lane, field) as { name: string }[]).map(({ name }) => name))
    const found = { names, isComplete: this.#findUncounted.get(lane, field) === undefined }
    if (this.#known.size >= maxKnown) this.#known.clear()
    this.#known.set(key, found)
    return found
  }
}

function keyOf(lane: number, field: string): string {
  return `${lane} ${field}`
}
