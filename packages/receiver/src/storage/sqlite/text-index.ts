import type { RecordFields } from '../record-storage.js'
import { contextFields } from '../records/context-fields.js'
import { messageWords } from '../records/words.js'
import { type Database, inLateTransaction, type Statement } from './database.js'
import { createNumbers, KnownNumbers } from './known-numbers.js'
import { lastGivenId } from './record-ids.js'
import { labelsOf } from './text-labels.js'

/** Number of records that one step indexes. */
const step = 2_000
/** Changes whenever the index gets other columns, labels, words or parts. An index of another shape is made again. */
const shape = 4
/** A part has at least this number of records before another begins. */
const minPart = 20_000
/** A part has at least this share of all records before another begins: so there are few parts. */
const partShare = 1 / 8

/** A table of the index, and the ids of the records that it has or had. */
export interface Part {
  readonly name: string
  readonly first: number
  readonly last: number
}

/**
 * The words of all messages, and labels for what queries find records by, in a separate database that is built from the records. It
 * follows them in steps, so that no write waits for the index.
 *
 * The index stores no text, only the positions of words and labels. Its row ids are negative record ids: the index is fast in rising order
 * only, and queries want the newest records first.
 *
 * It has parts, each a table with the next ids. Its rows cannot be deleted: a part goes when all its records are gone. And a prefix is read to
 * its end before the first record is found: in a part, that takes a bounded time.
 */
export class TextIndex {
  readonly #database: Database
  readonly #next: Statement
  readonly #done: Statement
  readonly #advance: Statement
  readonly #numbers: KnownNumbers

  /** @param path path of the index, or `:memory:` */
  constructor(database: Database, path: string) {
    this.#database = database
    database.prepare('ATTACH ? AS texts').run(path)
    database.exec('PRAGMA texts.journal_mode = WAL; PRAGMA texts.synchronous = NORMAL')
    if (!this.#belongs()) this.#begin()
    this.#numbers = new KnownNumbers(database)
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
    try {
      return inLateTransaction(this.#database, () => this.#takeStep() === step)
    } catch (error) {
      this.#numbers.forget()
      throw error
    }
  }

  /** All numbers that a field of the contexts of a lane has, as JSON. Undefined where they are not known, or too many. */
  numbersOf(lane: number, path: string): readonly string[] | undefined {
    return this.#numbers.of(lane, path)
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
    const numbers = this.#numbers
    // Rows go in by rising row id. In any other order SQLite writes each row on its own.
    const rows = this.#database.prepare(
      'SELECT id, lane, record FROM main.records WHERE id BETWEEN ? AND ? ORDER BY id DESC',
    )
    const insert = this.#database.prepare(`INSERT INTO texts.${part} (rowid, message, labels) VALUES (?, ?, ?)`)
    for (const { id, lane, record } of rows.iterate(first, last) as Iterable<Row>) {
      const fields = JSON.parse(record) as RecordFields
      const context = contextFields(fields.message ?? '')
      insert.run(-id, messageWords(fields.message).join(' '), labelsOf(lane, { fields, context }))
      for (const { path, json } of context) if (json !== undefined) numbers.add({ lane, path, json })
    }
  }

  #hasRecords({ first, last }: Part): boolean {
    return (
      this.#database.prepare('SELECT 1 FROM main.records WHERE id BETWEEN ? AND ? LIMIT 1').get(first, last) !==
      undefined
    )
  }

  #isFull({ first, last }: Part): boolean {
    const { records } = this.#database.prepare('SELECT sum(records) AS records FROM main.lanes').get() as {
      records: number
    }
    return last - first + 1 >= Math.max(minPart, records * partShare)
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
        DROP TABLE IF EXISTS texts.numbers;
        ${createNumbers};
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

interface Row {
  readonly id: number
  readonly lane: number
  /** JSON. */
  readonly record: string
}
