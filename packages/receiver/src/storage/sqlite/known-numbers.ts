import type { Database, Statement } from './database.js'

/** A field with more numbers is looked up by the field alone. */
const maxNumbers = 200
/** The numbers of so many fields are known. */
const maxFields = 2000

/** SQL for the table. A field with too many numbers has the empty text, too. */
export const createNumbers =
  'CREATE TABLE texts.numbers (lane INTEGER NOT NULL, path TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (lane, path, json)) WITHOUT ROWID'

/**
 * The numbers of fields that have few, such as a status. A comparison becomes a search for some of them, however few records have those: the
 * text index has words, which are not compared.
 */
export class KnownNumbers {
  readonly #add: Statement
  readonly #find: Statement
  readonly #fields: Statement
  /** By lane and path. */
  #known = new Map<string, Set<string>>()
  /** Number of fields that have numbers. */
  #count: number | undefined

  constructor(database: Database) {
    this.#add = database.prepare('INSERT OR IGNORE INTO texts.numbers VALUES (?, ?, ?)')
    this.#find = database.prepare('SELECT json FROM texts.numbers WHERE lane = ? AND path = ?')
    this.#fields = database.prepare('SELECT count(*) AS fields FROM (SELECT DISTINCT lane, path FROM texts.numbers)')
  }

  /** Notes a value, within the transaction that indexes its record. */
  add({ lane, path, json }: { readonly lane: number; readonly path: string; readonly json: string }): void {
    if (!/^[-\d]/.test(json)) return
    const numbers = this.#numbersOf(lane, path)
    if (numbers.has('') || numbers.has(json)) return
    if (numbers.size === 0) {
      this.#count ??= (this.#fields.get() as { fields: number }).fields
      if (this.#count >= maxFields) return
      this.#count++
    }
    const added = numbers.size < maxNumbers ? json : ''
    numbers.add(added)
    this.#add.run(lane, JSON.stringify(path), added)
  }

  /** All numbers of a field. Undefined where they are not known, or too many. */
  of(lane: number, path: string): readonly string[] | undefined {
    const numbers = this.#numbersOf(lane, path)
    return numbers.size === 0 || numbers.has('') ? undefined : [...numbers]
  }

  /** Callers call this after a rollback: the rows behind the cache are gone. */
  forget(): void {
    this.#known.clear()
    this.#count = undefined
  }

  #numbersOf(lane: number, path: string): Set<string> {
    const key = `${lane} ${path}`
    let numbers = this.#known.get(key)
    if (numbers === undefined) {
      const rows = this.#find.all(lane, JSON.stringify(path)) as { json: string }[]
      numbers = new Set(rows.map(({ json }) => json))
      // A question may ask for any path.
      if (this.#known.size >= 2 * maxFields) this.#known.clear()
      this.#known.set(key, numbers)
    }
    return numbers
  }
}
