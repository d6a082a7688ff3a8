import { CommitListeners } from '../commit-listeners.js'
import { GroupCommit } from '../group-commit.js'
import type { CommitListener, NewRecord, RecordStorage } from '../record-storage.js'
import { type WrittenRecord, writtenRecord } from '../records/written-records.js'
import { type Repeated, RepeatedAttempts } from '../repeated-attempts.js'
import type { SqliteAttempts } from './attempts.js'
import { type Database, inTransaction } from './database.js'
import { RecordReader } from './record-reader.js'
import { RecordTail } from './record-tail.js'
import { RecordWriter } from './record-writer.js'

/** Stores log and value records: writes them in groups, and reads them. */
export class SqliteRecords implements RecordStorage {
  readonly #database: Database
  readonly #writer: RecordWriter
  #reader: RecordReader | undefined
  readonly #tail: RecordTail
  readonly #listeners = new CommitListeners()
  readonly #repeated = new RepeatedAttempts()
  readonly #commits = new GroupCommit<NewRecord>(async (records) => {
    const sinceMs = performance.now()
    const repeated = this.store(records.map(writtenRecord))
    this.#repeated.add(repeated)
    this.#listeners.committed(records, { repeated, sinceMs })
  })

  constructor(database: Database, attempts: SqliteAttempts) {
    this.#database = database
    this.#writer = new RecordWriter(database, attempts)
    this.#tail = new RecordTail(database)
  }

  append(record: NewRecord): Promise<void> {
    return this.#commits.add(record)
  }

  /** Stores the records in one transaction, which is on disk when this returns. Returns the counts of those that came again. */
  store(records: readonly WrittenRecord[]): Repeated[] {
    return this.#write(() => this.#writer.write(records))
  }

  async forget(receivedBeforeMs: number): Promise<number> {
    const forgotten = this.#write(() => this.#writer.removeSome(receivedBeforeMs))
    this.#reader?.texts.tidy()
    return forgotten
  }

  #write<Result>(work: () => Result): Result {
    try {
      return inTransaction(this.#database, work)
    } catch (error) {
      this.#writer.forget()
      throw error
    }
  }

  readonly read: RecordStorage['read'] = async (query) => this.#indexed().read(query)
  readonly facets: RecordStorage['facets'] = async (query) => this.#indexed().facets(query)
  readonly counts: RecordStorage['counts'] = async (query) => this.#indexed().counts(query)
  readonly errors: RecordStorage['errors'] = async (query) => this.#indexed().errors(query)
  readonly position: RecordStorage['position'] = async (query) => this.#tail.position(query)
  readonly arrivals: RecordStorage['arrivals'] = async (query) => this.#tail.arrivals(query)
  readonly missed: RecordStorage['missed'] = async (query) => this.#tail.missed(query)
  readonly oldest: RecordStorage['oldest'] = async () => this.#tail.oldest()
  readonly receiptsAround: RecordStorage['receiptsAround'] = async (ms) => this.#tail.receiptsAround(ms)
  readonly repeated: RecordStorage['repeated'] = (bucket) => this.#repeated.of(bucket)

  onCommit(listener: CommitListener): () => void {
    return this.#listeners.add(listener)
  }

  /** Resolves when no record waits for its commit. */
  settled(): Promise<void> {
    return this.#commits.settled()
  }

  /** The first use makes a text index in memory. */
  #indexed(): RecordReader {
    this.#reader ??= new RecordReader(this.#database, ':memory:')
    return this.#reader
  }
}
