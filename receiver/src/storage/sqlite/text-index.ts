import type { FieldCondition } from '../records/field-conditions.js'
import { wordsIn } from '../records/words.js'
import { type Database, inLateTransaction, type Statement } from './database.js'

/** Number of records that one step indexes. */
const step = 2_000
/** Changes whenever the index gets other columns, labels or words. An index of another shape is made again. */
const shape = 2
/** Longer values are cut, in characters of their JSON. Rows must be checked again for those. */
const maxValueLength = 100
/** Prefix of the labels of each field. */
const letters = { level: 'v', eventId: 'i', appName: 'a', env: 'e', machineName: 'm', appVersion: 'r' } as const

/**
 * The words of all messages and the values of the fields that queries filter by, in a separate database that is built from the records. It
 * follows them in steps, so that no write waits for the index.
 *
 * A record has the label `l3` of its lane, and one for each field: `l3a2273686F7022` is `"shop"`, the name of the application in lane 3. The
 * index stores no text, only the positions of words. Its row ids are negative record ids: the index is fast in rising order only, and queries
 * want the newest records first.
 */
export class TextIndex {
  readonly #database: Database
  readonly #next: Statement
  readonly #add: Statement
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
    // Rows go in by rising row id. In any other order SQLite writes each row on its own.
    const fields = Object.keys(letters) as (keyof typeof letters)[]
    const labels = fields.map(
      (field) =>
        `iif(${field} IS NULL, '', ' l' || lane || '${letters[field]}' || hex(substr(${field}, 1, ${maxValueLength})))`,
    )
    this.#add = database.prepare(
      `INSERT INTO texts.words (rowid, message, labels)
         SELECT -id, words_of(message), 'l' || lane || ${labels.join(' || ')} FROM (
           SELECT id, lane, record -> '$.message' AS message, ${fields.map((field) => `record -> '$.${field}' AS ${field}`).join(', ')}
             FROM main.records WHERE id > ? AND id <= ?)
         ORDER BY id DESC`,
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

  #takeStep(): number {
    const done = this.lastId
    const { last, taken } = this.#next.get(done, step) as { last: number | null; taken: number }
    if (last !== null) {
      this.#add.run(done, last)
      this.#advance.run(last)
    }
    return taken
  }

  /** True if the index was built from this database. */
  #belongs(): boolean {
    const { user_version: found } = this.#database.prepare('PRAGMA texts.user_version').get() as {
      user_version: number
    }
    const tables = this.#database.prepare(`SELECT 1 FROM texts.sqlite_schema WHERE name = 'progress'`).all()
    const fits = `SELECT 1 FROM texts.progress WHERE source = (SELECT id FROM main.identity)
      AND last_id <= (SELECT coalesce(max(id), 0) FROM main.records)`
    return found === shape && tables.length === 1 && this.#database.prepare(fits).all().length === 1
  }

  #begin(): void {
    inLateTransaction(this.#database, () =>
      this.#database.exec(`
      DROP TABLE IF EXISTS texts.words;
      DROP TABLE IF EXISTS texts.progress;
      CREATE VIRTUAL TABLE texts.words USING fts5(message, labels, content = '', columnsize = 0);
      CREATE TABLE texts.progress (source TEXT NOT NULL, last_id INTEGER NOT NULL);
      INSERT INTO texts.progress SELECT id, 0 FROM main.identity;
      PRAGMA texts.user_version = ${shape};
    `),
    )
  }
}

/** The query of the text index for some words and values; undefined if `text` has no word. */
export function matchOf({
  lane,
  text,
  notText,
  fields,
}: {
  readonly lane: number
  readonly text: string | undefined
  readonly notText: string | undefined
  readonly fields: readonly FieldCondition[]
}): string | undefined {
  const words = wordsOf(text)
  if (words.length === 0 && text !== undefined) return undefined
  const labelled = ({ field, values }: FieldCondition) =>
    values.map((value) => `labels : l${lane}${letters[field]}${hexOf(value)}`).join(' OR ')
  const wanted = fields.filter(({ not }) => not !== true).map((condition) => `(${labelled(condition)})`)
  // A label of a field is one of the lane, too.
  if (wanted.length === 0) wanted.push(`labels : l${lane}`)
  if (words.length > 0) wanted.push(`message : (${words.join(' AND ')})`)
  // A label that is cut stands for other values, too: those rows are checked.
  const unwanted = fields
    .filter(({ not }) => not === true)
    .map(({ values, ...condition }) => labelled({ ...condition, values: values.filter((value) => !isCut(value)) }))
    .filter((labels) => labels !== '')
  const unwantedWords = wordsOf(notText)
  if (unwantedWords.length > 0) unwanted.push(`message : (${unwantedWords.join(' OR ')})`)
  const found = `(${wanted.join(' AND ')})`
  return unwanted.length === 0 ? found : `${found} NOT (${unwanted.join(' OR ')})`
}

/** True for a value, as JSON, that its label does not tell from all others. */
export function isCut(value: string): boolean {
  return value.length > maxValueLength
}

/** Characters are counted as SQLite counts them. */
function hexOf(value: string): string {
  return Buffer.from([...value].slice(0, maxValueLength).join('')).toString('hex')
}

/** Inside double quotes there are no operators, and words must stand next to each other. */
function wordsOf(text = ''): string[] {
  return text.split(/\s+/).flatMap((word) => {
    const runs = wordsIn(word)
    return runs.length === 0 ? [] : [`"${runs.join(' ')}"`]
  })
}

/** @param json the message as JSON: there is no NUL in it */
function wordsOfJson(json: string | null): string | null {
  return json === null ? null : wordsIn(String(JSON.parse(json))).join(' ')
}
