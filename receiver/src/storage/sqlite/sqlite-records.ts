import type { NewRecord, RecordPage, RecordQuery, RecordStorage } from '../record-storage.js'
import type { Attempts } from './attempts.js'
import { GroupCommit } from './group-commit.js'
import type { Database } from './open-sqlite.js'
import { RecordReader } from './record-reader.js'
import { RecordWriter } from './record-writer.js'
import { inTransaction } from './transaction.js'

/** Log and value records: written in groups, read by their series. */
export class SqliteRecords implements RecordStorage {
  readonly #writer: RecordWriter
  readonly #reader: RecordReader
  readonly #commits: GroupCommit<NewRecord>

  constructor(database: Database, attempts: Attempts) {
    const writer = new RecordWriter(database, attempts)
    this.#writer = writer
    this.#reader = new RecordReader(database)
    this.#commits = new GroupCommit((records) => {
      try {
        inTransaction(database, () => this.#writer.write(records))
      } catch (error) {
        writer.forget()
        throw error
      }
    })
  }

  append(record: NewRecord): Promise<void> {
    return this.#commits.add(record)
  }

  async read(query: RecordQuery): Promise<RecordPage> {
    return this.#reader.read(query)
  }

  /** Resolves when nothing waits for its commit. */
  settled(): Promise<void> {
    return this.#commits.settled()
  }
}
