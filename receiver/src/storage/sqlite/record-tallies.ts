import type { Database, Statement } from './database.js'
import { earliestMs, latestMs, maxNameLength, maxNames, namedFields } from './record-values.js'
import type { Labels } from './written-records.js'

/** The caches are cleared when they reach this size. */
const maxKnown = 10_000
const minuteMs = 60_000
const hourMs = 3_600_000

interface Count {
  /** Begin of the minute or hour; 0 for all time. */
  readonly atMs: number
  readonly value: string
  records: number
  lastMs: number
}

/** The values that a record counts for, as JSON. */
interface Counted {
  readonly value: string
  readonly names: readonly (readonly [field: string, name: string])[]
}

/** Counts the records of one transaction, and adds them to the tables: by lane, by value and time, and by the values of fields. */
export class RecordTallies {
  readonly #addRecords: Statement
  readonly #addCount: Statement
  readonly #addName: Statement
  readonly #findNames: Statement
  readonly #parsed = new Map<string, Counted>()
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
  add(lane: number, records: readonly { readonly labels: string; readonly timeMs: number }[]): void {
    const minutes = new Map<string, Count>()
    const labels = new Map<string, number>()
    for (const { labels: written, timeMs } of records) {
      labels.set(written, (labels.get(written) ?? 0) + 1)
      const lastMs = Math.min(Math.max(timeMs, earliestMs), latestMs)
      const atMs = Math.floor(lastMs / minuteMs) * minuteMs
      merge(minutes, { atMs, value: this.#counted(written).value, records: 1, lastMs })
    }
    const hours = new Map<string, Count>()
    const all = new Map<string, Count>()
    for (const count of minutes.values()) {
      merge(hours, { ...count, atMs: Math.floor(count.atMs / hourMs) * hourMs })
      merge(all, { ...count, atMs: 0 })
    }
    this.#addRecords.run(records.length, lane)
    for (const [stepMs, counts] of [
      [minuteMs, minutes],
      [hourMs, hours],
      [0, all],
    ] as const) {
      for (const { atMs, value, records: added, lastMs } of counts.values()) {
        this.#addCount.run(lane, stepMs, atMs, value, added, lastMs)
      }
    }
    this.#addNames(lane, labels)
  }

  /** Callers call this after a rollback: the rows behind the caches are gone. */
  forget(): void {
    this.#names.clear()
  }

  #addNames(lane: number, labels: ReadonlyMap<string, number>): void {
    const added = new Map<string, { field: string; name: string; records: number }>()
    for (const [written, records] of labels) {
      for (const [field, name] of this.#counted(written).names) {
        if (!this.#isKnown({ lane, field, name })) continue
        const key = `${field} ${name}`
        added.set(key, { field, name, records: records + (added.get(key)?.records ?? 0) })
      }
    }
    for (const { field, name, records } of added.values()) this.#addName.run(lane, field, name, records)
  }

  /** True for a known name, and for a new one while there is room. So the count of a known name is always complete. */
  #isKnown({ lane, field, name }: { readonly lane: number; readonly field: string; readonly name: string }): boolean {
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
    if (this.#names.size >= maxKnown / 100) this.#names.clear()
    this.#names.set(key, names)
    return names
  }

  #counted(written: string): Counted {
    const known = this.#parsed.get(written)
    if (known !== undefined) return known
    const [value, ...fields] = JSON.parse(written) as Labels
    const names = namedFields.flatMap((field, index) => {
      const name = fields[index]
      return name === null || name === undefined ? [] : [[field, JSON.stringify(name)] as const]
    })
    const counted = { value: JSON.stringify(value), names }
    if (this.#parsed.size >= maxKnown) this.#parsed.clear()
    this.#parsed.set(written, counted)
    return counted
  }
}

function merge(counts: Map<string, Count>, count: Count): void {
  const key = `${count.atMs} ${count.value}`
  const known = counts.get(key)
  if (known === undefined) {
    counts.set(key, count)
    return
  }
  known.records += count.records
  known.lastMs = Math.max(known.lastMs, count.lastMs)
}
