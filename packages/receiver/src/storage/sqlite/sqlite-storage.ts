import type { Storage } from '../storage.js'
import { ContentTables } from '../tables/content-tables.js'
import { KeyTable } from '../tables/key-table.js'
import { ProjectTable } from '../tables/project-table.js'
import { SessionTable } from '../tables/session-table.js'
import { ViewTable } from '../tables/view-table.js'
import { SqliteAttempts } from './attempts.js'
import { type Database, inTransaction, openSqlite } from './database.js'
import { migrate, versionOf } from './migrations.js'
import { SqliteRecords } from './sqlite-records.js'
import { SqliteRows } from './sqlite-rows.js'

const settings = `
  PRAGMA busy_timeout = 5000;
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA cache_size = -65536;
`

/** One SQLite file, one connection, in this thread. `synchronous=FULL`; each promise resolves after the commit. */
export class SqliteStorage implements Storage {
  readonly records: SqliteRecords
  readonly content: ContentTables
  readonly projects: ProjectTable
  readonly keys: KeyTable
  readonly pageSessions: SessionTable
  readonly views: ViewTable
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
      const attempts = new SqliteAttempts(database)
      this.#database = database
      this.records = new SqliteRecords(database, attempts)
      const rows = new SqliteRows(database)
      this.content = new ContentTables(rows, attempts)
      this.projects = new ProjectTable(rows)
      this.keys = new KeyTable(rows)
      this.pageSessions = new SessionTable(rows)
      this.views = new ViewTable(rows)
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

  /** Leaves all records in the file itself, as far as no other program reads it. */
  async close(): Promise<void> {
    await this.records.settled()
    try {
      // SQLite does it only where no other program has the file open.
      this.#database.exec('PRAGMA busy_timeout = 1000; PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // The disk is full, for example. The write-ahead log keeps what it has.
    } finally {
      this.#database.close()
    }
  }
}
