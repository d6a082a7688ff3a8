import type { FieldCondition } from '../records/field-conditions.js'
import type { FilterConditions } from '../records/filter-conditions.js'
import { type Phrase, wordsIn } from '../records/words.js'
import { type Database, inLateTransaction, type Statement } from './database.js'
import { lastGivenId } from './record-ids.js'

/** Number of records that one step indexes. */
const step = 2_000
/** Changes whenever the index gets other columns, labels, words or parts. An index of another shape is made again. */
const shape = 2
/** A part has at least this number of records before another begins. */
const minPart = 20_000
/** A part has at least this share of all records before another begins: so there are few parts. */
const partShare = 1 / 8
/** Longer values are cut, in characters of their JSON. Rows must be checked again for those. */
const maxValueLength = 100
/** Prefix of the labels of each field. */
const letters = { level: 'v', eventId: 'i', appName: 'a', env: 'e', machineName: 'm', appVersion: 'r' } as const

/** A table of the index, and the ids of the records that it has or had. */
export interface Part {
  readonly name: string
  readonly first: number
  readonly last: number
}

/**
 * The words of all messages and the values of the fields that queries filter by, in a separate database that is built from the records. It
 * follows them in steps, so that no write waits for the index.
 *
 * A record has the label `l3` of its lane, and one for each field: `l3a2273686F7022` is `"shop"`, the name of the application in lane 3. The
 * index stores no text, only the positions of words. Its row ids are negative record ids: the index is fast in rising order only, and queries
 * want the newest records first.
 *
 * Its rows cannot be deleted. So the index of a store that forgets records has parts, each a table with the next ids, and a part goes when all
 * its records are gone. A store that has never forgotten any has one part.
 */
export class TextIndex {
  readonly #database: Database
  readonly #next: Statement
  readonly #done: Statement
  readonly #advance: Statement

  /** @param path path of the index, or `:memory:` */
  constructor(database: Database, path: string) {
    this.#database = database
    database.prepare('ATTACH ? AS texts').run(path)
    database.function('words_of', { deterministic: true }, wordsOfJson)
    database.exec('PRAGMA texts.journal_mode = WAL; PRAGMA texts.synchronous = NORMAL')
    if (!this.#belongs()) this.#begin()
    this.#next = database.prepare(
      'SELECT max(id) AS last, count(*) AS taken FROM (SELECT id FROM main.records WHERE id > ? ORDER BY id LIMIT ?)',
    )
    this.#done = database.prepare('SELECT last_id FROM texts.progress')
    this.#advance = database.prepare('UPDATE texts.progress SET last_id = ?')
  }

  /** Id of the last record that is indexed. */
  get lastId(): number {
    return (this.#done.get() as { last_id: number }).last_id
  }

  /** Indexes the next records. Returns true if there may be more. */
  follow(): boolean {
    // An immediate transaction would lock the records too, while the writer thread writes them.
    return inLateTransaction(this.#database, () => this.#takeStep() === step)
  }

  /** The parts with records, the newest first. */
  parts(): Part[] {
    const parts = this.#database
      .prepare('SELECT name, first_id AS first FROM texts.parts ORDER BY first_id DESC')
      .all() as Omit<Part, 'last'>[]
    return parts.map((part, index) => ({ ...part, last: index === 0 ? this.lastId : parts[index - 1]!.first - 1 }))
  }

  /** Drops a part whose records are gone: 60 MB take 0.2 s. Returns true if there may be another. */
  tidy(): boolean {
    const [, ...others] = this.parts()
    const empty = others.find((part) => !this.#hasRecords(part))
    if (empty === undefined) return false
    inLateTransaction(this.#database, () => {
      this.#database.exec(`DROP TABLE texts.${empty.name}`)
      this.#database.prepare('DELETE FROM texts.parts WHERE first_id = ?').run(empty.first)
    })
    return true
  }

  #takeStep(): number {
    const done = this.lastId
    const { last, taken } = this.#next.get(done, step) as { last: number | null; taken: number }
    if (last !== null) {
      const newest = this.parts()[0]!
      const part = this.#isFull(newest) ? this.#addPart(done + 1) : newest.name
      this.#addTo(part, { first: done + 1, last })
      this.#advance.run(last)
    }
    return taken
  }

  #addTo(part: string, { first, last }: { readonly first: number; readonly last: number }): void {
    const fields = Object.keys(letters) as (keyof typeof letters)[]
    const labels = fields.map(
      (field) =>
        `iif(${field} IS NULL, '', ' l' || lane || '${letters[field]}' || hex(substr(${field}, 1, ${maxValueLength})))`,
    )
    // Rows go in by rising row id. In any other order SQLite writes each row on its own.
    this.#database
      .prepare(
        `INSERT INTO texts.${part} (rowid, message, labels)
         SELECT -id, words_of(message), 'l' || lane || ${labels.join(' || ')} FROM (
           SELECT id, lane, record -> '$.message' AS message, ${fields.map((field) => `record -> '$.${field}' AS ${field}`).join(', ')}
             FROM main.records WHERE id BETWEEN ? AND ?)
         ORDER BY id DESC`,
      )
      .run(first, last)
  }

  #hasRecords({ first, last }: Part): boolean {
    return (
      this.#database.prepare('SELECT 1 FROM main.records WHERE id BETWEEN ? AND ? LIMIT 1').get(first, last) !==
      undefined
    )
  }

  /** True if records have been forgotten, and the part is large enough. */
  #isFull({ first, last }: Part): boolean {
    const { forgotten, records } = this.#database
      .prepare(
        'SELECT last_forgotten_id AS forgotten, (SELECT sum(records) FROM main.lanes) AS records FROM main.identity',
      )
      .get() as { forgotten: number; records: number }
    return forgotten > 0 && last - first + 1 >= Math.max(minPart, records * partShare)
  }

  /** Returns its name. */
  #addPart(first: number): string {
    const name = `words_${first}`
    this.#database.exec(createPart(name))
    this.#database.prepare('INSERT INTO texts.parts (name, first_id) VALUES (?, ?)').run(name, first)
    return name
  }

  /** True if the index was built from this database. */
  #belongs(): boolean {
    const { user_version: found } = this.#database.prepare('PRAGMA texts.user_version').get() as {
      user_version: number
    }
    const tables = this.#database.prepare(`SELECT 1 FROM texts.sqlite_schema WHERE name = 'progress'`).all()
    const fits = `SELECT 1 FROM texts.progress WHERE source = (SELECT id FROM main.identity)
      AND last_id <= (${lastGivenId})`
    return found === shape && tables.length === 1 && this.#database.prepare(fits).all().length === 1
  }

  #begin(): void {
    inLateTransaction(this.#database, () => {
      const tables = this.#database
        .prepare(
          "SELECT name FROM texts.sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%' OR name IN ('parts', 'progress')",
        )
        .all() as { name: string }[]
      for (const { name } of tables) this.#database.exec(`DROP TABLE texts.${name}`)
      this.#database.exec(`
        ${createPart('words')};
        CREATE TABLE texts.progress (source TEXT NOT NULL, last_id INTEGER NOT NULL);
        INSERT INTO texts.progress SELECT id, 0 FROM main.identity;
        CREATE TABLE texts.parts (name TEXT NOT NULL, first_id INTEGER PRIMARY KEY);
        INSERT INTO texts.parts VALUES ('words', 1);
        PRAGMA texts.user_version = ${shape};
      `)
    })
  }
}

function createPart(name: string): string {
  return `CREATE VIRTUAL TABLE texts.${name} USING fts5(message, labels, content = '', columnsize = 0)`
}

/** The query of the text index for the records of a lane. */
export function matchOf(lane: number, { wanted, unwanted }: FilterConditions): string {
  const labelled = ({ field, values }: FieldCondition) =>
    values.map((value) => `labels : l${lane}${letters[field]}${hexOf(value)}`).join(' OR ')
  const quoted = (phrase: Phrase) => `message : "${phrase.join(' ')}"`
  const all = wanted.fields.map((condition) => `(${labelled(condition)})`)
  // A label of a field is one of the lane, too.
  if (all.length === 0) all.push(`labels : l${lane}`)
  all.push(...wanted.phrases.map(quoted))
  // A label that is cut stands for other values, too: those rows are checked.
  const none = unwanted.fields
    .map(({ values, ...condition }) => labelled({ ...condition, values: values.filter((value) => !isCut(value)) }))
    .filter((labels) => labels !== '')
  none.push(...unwanted.phrases.map(quoted))
  const found = `(${all.join(' AND ')})`
  return none.length === 0 ? found : `${found} NOT (${none.join(' OR ')})`
}

/** True for a value, as JSON, that its label does not tell from all others. */
export function isCut(value: string): boolean {
  return value.length > maxValueLength
}

/** Characters are counted as SQLite counts them. */
function hexOf(value: string): string {
  return Buffer.from([...value].slice(0, maxValueLength).join('')).toString('hex')
}

/** @param json the message as JSON: there is no NUL in it */
function wordsOfJson(json: string | null): string | null {
  return json === null ? null : wordsIn(String(JSON.parse(json))).join(' ')
}
