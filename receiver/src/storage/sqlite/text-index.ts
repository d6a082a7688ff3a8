import type { Database, Statement } from './database.js'

/** How many records one step takes in. */
const step = 2_000
/** Up to so many series are looked for in the index itself; more are sorted out afterwards. */
const maxSeriesInQuery = 64

/**
 * Which words stand in which message, in a database of its own beside the records, and made from them: it follows them, a step
 * at a time, so that no record waits for its words.
 *
 * Words are runs of letters and digits, without case and accents. The index keeps no text, only where words are: its rows have the
 * ids of the records with the sign turned, for it is quick in rising order only, and the newest are wanted first.
 */
export class TextIndex {
  readonly #database: Database
  readonly #next: Statement
  readonly #add: Statement
  readonly #done: Statement
  readonly #advance: Statement

  /** @param path of its file, or `:memory:` */
  constructor(database: Database, path: string) {
    this.#database = database
    database.prepare('ATTACH ? AS texts').run(path)
    database.exec('PRAGMA texts.journal_mode = WAL; PRAGMA texts.synchronous = NORMAL')
    if (!this.#belongs()) this.#begin()
    this.#next = database.prepare(
      'SELECT max(id) AS last, count(*) AS taken FROM (SELECT id FROM main.records WHERE id > ? ORDER BY id LIMIT ?)',
    )
    // In rising order of what the index is ordered by: against it, each row would be written by itself.
    this.#add = database.prepare(
      `INSERT INTO texts.words (rowid, message, labels)
         SELECT -id, record ->> '$.message' AS text, 'l' || lane || ' s' || series FROM main.records
           WHERE id > ? AND id <= ? AND text IS NOT NULL ORDER BY id DESC`,
    )
    this.#done = database.prepare('SELECT last_id FROM texts.progress')
    this.#advance = database.prepare('UPDATE texts.progress SET last_id = ?')
  }

  /** Take in the next records. Whether there may be more. */
  follow(): boolean {
    // Not IMMEDIATE: that would lock the records, too, which others write.
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

  /** Whether the index is one of these records, and of no others. */
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

  /** The query for records whose message has all the words of a text; undefined when it has no word. */
  match({
    text,
    lane,
    series,
  }: {
    text: string
    lane: number
    series: readonly number[] | undefined
  }): string | undefined {
    while (this.follow());
    const words = text.split(/\s+/).flatMap((word) => {
      const runs = word.match(/[\p{L}\p{N}\p{M}]+/gu)
      return runs === null ? [] : [`"${runs.join(' ')}"`]
    })
    if (words.length === 0) return undefined
    const labels =
      series === undefined || series.length > maxSeriesInQuery ? `l${lane}` : series.map((id) => `s${id}`).join(' OR ')
    // In double quotes nothing is an operator, and runs are looked for next to one another.
    return `message : (${words.join(' AND ')}) AND labels : (${labels})`
  }
}
