import type { NewRecord, RecordPage, RecordQuery, RecordStorage } from '../record-storage.js'
import type { Attempts } from './attempts.js'
import { type Database, inTransaction } from './database.js'
import { GroupCommit } from './group-commit.js'
import { RecordReader } from './record-reader.js'
import { RecordWriter } from './record-writer.js'
import { type WrittenRecord, writtenRecord } from './written-records.js'

/** Stores log and value records: writes them in groups and reads them by series. */
export class SqliteRecords implements RecordStorage {
  readonly #database: Database
  readonly #writer: RecordWriter
  #reader: RecordReader | undefined
  readonly #commits = new GroupCommit<NewRecord>(async (records) => this.store(records.map(writtenRecord)))

  constructor(database: Database, attempts: Attempts) {
    this.#database = database
    this.#writer = new RecordWriter(database, attempts)
  }

  append(record: NewRecord): Promise<void> {
    return this.#commits.add(record)
  }

  /** Stores the records in one transaction, which is on disk when this returns. */
  store(records: readonly WrittenRecord[]): void {
    try {
      inTransaction(this.#database, () => this.#writer.write(records))
    } catch (error) {
      this.#writer.forget()
      throw error
    }
  }

  /** The first read makes a text index in memory. */
  async read(query: RecordQuery): Promise<RecordPage> {
    this.#reader ??= new RecordReader(this.#database, ':memory:')
    return this.#reader.read(query)
  }

  /** Resolves when no record waits for its commit. */
  settled(): Promise<void> {
    return this.#commits.settled()
  }
}
