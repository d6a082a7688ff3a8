import type { NewRecord, RecordPage, RecordQuery, RecordStorage } from '../record-storage.js'
import type { Attempts } from './attempts.js'
import { GroupCommit } from './group-commit.js'
import type { Database } from './open-sqlite.js'
import type { Reader } from './reader.js'
import { RecordWriter } from './record-writer.js'
import { inTransaction } from './transaction.js'

/** Log and value records: written in groups, read by their series. */
export class SqliteRecords implements RecordStorage {
  readonly #reader: Reader
  readonly #commits: GroupCommit<NewRecord>

  constructor(database: Database, { attempts, reader }: { attempts: Attempts; reader: Reader }) {
    const writer = new RecordWriter(database, attempts)
    this.#reader = reader
    this.#commits = new GroupCommit((records) => {
      try {
        inTransaction(database, () => writer.write(records))
        reader.committed()
      } catch (error) {
        writer.forget()
        throw error
      }
    })
  }

  append(record: NewRecord): Promise<void> {
    return this.#commits.add(record)
  }

  read(query: RecordQuery): Promise<RecordPage> {
    return this.#reader.read(query)
  }

  /** Resolves when nothing waits for its commit, and nobody reads. */
  async close(): Promise<void> {
    await this.#commits.settled()
    await this.#reader.close()
  }
}
