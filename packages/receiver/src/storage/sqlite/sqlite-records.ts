import { CommitListeners } from '../commit-listeners.js'
import { GroupCommit } from '../group-commit.js'
import type {
  ArrivalsQuery,
  CommitListener,
  CountQuery,
  MissedQuery,
  NewRecord,
  RecordQuery,
  RecordStorage,
} from '../record-storage.js'
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
    this.#reader?.tidy()
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

  async read(query: RecordQuery) {
    return this.#indexed().read(query)
  }

  async facets(query: RecordQuery) {
    return this.#indexed().facets(query)
  }

  async counts(query: CountQuery) {
    return this.#indexed().counts(query)
  }

  async position(query: Parameters<RecordTail['position']>[0]) {
    return this.#tail.position(query)
  }

  async arrivals(query: ArrivalsQuery) {
    return this.#tail.arrivals(query)
  }

  async missed(query: MissedQuery) {
    return this.#tail.missed(query)
  }

  async oldest() {
    return this.#tail.oldest()
  }

  async receiptsAround(ms: number) {
    return this.#tail.receiptsAround(ms)
  }

  repeated(bucket: string) {
    return this.#repeated.of(bucket)
  }

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
