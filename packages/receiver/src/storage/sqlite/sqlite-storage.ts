import type { Storage } from '../storage.js'
import { Attempts } from './attempts.js'
import { type Database, inTransaction, openSqlite } from './database.js'
import { migrate, versionOf } from './migrations.js'
import { SqliteContent } from './sqlite-content.js'
import { SqliteKeys } from './sqlite-keys.js'
import { SqliteProjects } from './sqlite-projects.js'
import { SqliteRecords } from './sqlite-records.js'
import { SqliteSessions } from './sqlite-sessions.js'

const settings = `
  PRAGMA busy_timeout = 5000;
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA cache_size = -65536;
`

/** One SQLite file, one connection, in this thread. `synchronous=FULL`; each promise resolves after the commit. */
export class SqliteStorage implements Storage {
  readonly records: SqliteRecords
  readonly content: SqliteContent
  readonly projects: SqliteProjects
  readonly keys: SqliteKeys
  readonly pageSessions: SqliteSessions
  readonly #database: Database

  /**
   * @param path path of the file, or `:memory:`
   * @throws if the file cannot be used or a newer version has made it
   */
  constructor(path: string) {
    const database = openSqlite(path)
    try {
      database.exec(settings)
      migrate(database)
      database.exec('PRAGMA journal_mode = WAL')
      const attempts = new Attempts(database)
      this.#database = database
      this.records = new SqliteRecords(database, attempts)
      this.content = new SqliteContent(database, attempts)
      this.projects = new SqliteProjects(database)
      this.keys = new SqliteKeys(database)
      this.pageSessions = new SqliteSessions(database)
    } catch (error) {
      database.close()
      throw error
    }
  }

  async check(): Promise<void> {
    this.#database.prepare('SELECT count(*) FROM keys').get()
    // The same number again: SQLite writes its page nevertheless.
    const version = versionOf(this.#database)
    inTransaction(this.#database, () => this.#database.exec(`PRAGMA user_version = ${version}`))
  }

  async bytes(): Promise<number> {
    const query = 'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()'
    return (this.#database.prepare(query).get() as { bytes: number }).bytes
  }

  async close(): Promise<void> {
    await this.records.settled()
    this.#database.close()
  }
}
