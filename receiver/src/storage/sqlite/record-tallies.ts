import { maxNameLength, maxNames } from '../records/named-fields.js'
import { type CountedRecord, type NameTally, Tallies } from '../records/tallies.js'
import type { Database, Statement } from './database.js'

/** The cache is cleared when it has the names of so many fields. */
const maxKnown = 100

/** Counts the records of one transaction, and adds them to the tables: by lane, by value and time, and by the values of fields. */
export class RecordTallies {
  readonly #addRecords: Statement
  readonly #addCount: Statement
  readonly #addName: Statement
  readonly #findNames: Statement
  readonly #tallies = new Tallies()
  readonly #names = new Map<string, Set<string>>()

  constructor(database: Database) {
    this.#addRecords = database.prepare('UPDATE lanes SET records = records + ? WHERE id = ?')
    this.#addCount = database.prepare(
      `INSERT INTO counts (lane, step_ms, at_ms, value, records, last_ms) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET records = records + excluded.records, last_ms = max(last_ms, excluded.last_ms)`,
    )
    this.#addName = database.prepare(
      'INSERT INTO names (lane, field, name, records) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET records = records + excluded.records',
    )
    this.#findNames = database.prepare('SELECT name FROM names WHERE lane = ? AND field = ?')
  }

  /** All records are of one lane. */
  add(lane: number, records: readonly CountedRecord[]): void {
    this.#addRecords.run(records.length, lane)
    for (const { stepMs, atMs, value, records: added, lastMs } of this.#tallies.counts(records)) {
      this.#addCount.run(lane, stepMs, atMs, value, added, lastMs)
    }
    for (const { field, name, records: added } of this.#tallies.names(records, (each) => this.#isKnown(lane, each))) {
      this.#addName.run(lane, field, name, added)
    }
  }

  /** Callers call this after a rollback: the rows behind the caches are gone. */
  forget(): void {
    this.#names.clear()
  }

  /** True for a known name, and for a new one while there is room. So the count of a known name is always complete. */
  #isKnown(lane: number, { field, name }: Pick<NameTally, 'field' | 'name'>): boolean {
    const names = this.#namesOf(lane, field)
    if (names.has(name)) return true
    if (names.size >= maxNames || name.length > maxNameLength) return false
    names.add(name)
    return true
  }

  #namesOf(lane: number, field: string): Set<string> {
    const key = `${lane} ${field}`
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const names = new Set((this.#findNames.all(lane, field) as { name: string }[]).map(({ name }) => name))
    if (this.#names.size >= maxKnown) this.#names.clear()
    this.#names.set(key, names)
    return names
  }
}
