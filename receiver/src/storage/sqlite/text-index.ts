import type { Database, Statement } from './database.js'

/** Number of records that one step indexes. */
const step = 2_000

/**
 * The words of all messages, in a separate database that is built from the records. It follows them in steps, so that no write waits for the
 * index.
 *
 * Words are runs of letters and digits, without case and accents. The index stores no text, only the positions of words. Its row ids are
 * negative record ids: the index is fast in rising order only, and queries want the newest records first.
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
    database.exec('PRAGMA texts.journal_mode = WAL; PRAGMA texts.synchronous = NORMAL')
    if (!this.#belongs()) this.#begin()
    this.#next = database.prepare(
      'SELECT max(id) AS last, count(*) AS taken FROM (SELECT id FROM main.records WHERE id > ? ORDER BY id LIMIT ?)',
    )
    // Rows go in by rising row id. In any other order SQLite writes each row on its own.
    this.#add = database.prepare(
      `INSERT INTO texts.words (rowid, message, labels)
         SELECT -id, record ->> '$.message' AS text, 'l' || lane || ' s' || series FROM main.records
           WHERE id > ? AND id <= ? ORDER BY id DESC`,
    )
    this.#done = database.prepare('SELECT last_id FROM texts.progress')
    this.#advance = database.prepare('UPDATE texts.progress SET last_id = ?')
  }

  /** Indexes the next records. Returns true if there may be more. */
  follow(): boolean {
    // Not IMMEDIATE: that would lock the records too, while the writer thread writes them.
    this.#database.exec('BEGIN')
    try {
      const taken = this.#takeStep()
      this.#database.exec('COMMIT')
      return taken === step
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error
    }
  }

  #takeStep(): number {
    const { last_id: done } = this.#done.get() as { last_id: number }
    const { last, taken } = this.#next.get(done, step) as { last: number | null; taken: number }
    if (last !== null) {
      this.#add.run(done, last)
      this.#advance.run(last)
    }
    return taken
  }

  /** True if the index was built from this database. */
  #belongs(): boolean {
    const tables = this.#database.prepare(`SELECT 1 FROM texts.sqlite_schema WHERE name = 'progress'`).all()
    const fits = `SELECT 1 FROM texts.progress WHERE source = (SELECT id FROM main.identity)
      AND last_id <= (SELECT coalesce(max(id), 0) FROM main.records)`
    return tables.length === 1 && this.#database.prepare(fits).all().length === 1
  }

  #begin(): void {
    this.#database.exec(`
      BEGIN;
      DROP TABLE IF EXISTS texts.words;
      DROP TABLE IF EXISTS texts.progress;
      CREATE VIRTUAL TABLE texts.words USING fts5(message, labels, content = '', columnsize = 0);
      CREATE TABLE texts.progress (source TEXT NOT NULL, last_id INTEGER NOT NULL);
      INSERT INTO texts.progress SELECT id, 0 FROM main.identity;
      COMMIT;
    `)
  }

  /** The query for messages with all words of `text` and none of `notText`; undefined if `text` has no word. */
  match({
    text,
    notText,
    lane,
  }: {
    text: string | undefined
    notText: string | undefined
    lane: number
  }): string | undefined {
    while (this.follow());
    const words = wordsOf(text)
    if (words.length === 0 && text !== undefined) return undefined
    const ofLane = `labels : l${lane}`
    const wanted = words.length === 0 ? ofLane : `(message : (${words.join(' AND ')}) AND ${ofLane})`
    const unwanted = wordsOf(notText)
    return unwanted.length === 0 ? wanted : `${wanted} NOT message : (${unwanted.join(' OR ')})`
  }
}

/** Inside double quotes there are no operators, and runs of letters and digits must stand next to each other. */
function wordsOf(text = ''): string[] {
  return text.split(/\s+/).flatMap((word) => {
    const runs = word.match(/[\p{L}\p{N}\p{M}]+/gu)
    return runs === null ? [] : [`"${runs.join(' ')}"`]
  })
}
