import type { RecordPage, RecordQuery } from '../record-storage.js'
import type { Database } from './open-sqlite.js'
import { RecordReader } from './record-reader.js'

/** Where records are read. */
export interface Reader {
  read(query: RecordQuery): Promise<RecordPage>
  /** Told after each commit of records. */
  committed(): void
  close(): Promise<void>
}

/** Reads on the connection that writes: the only one that a database in memory has. */
export class SameThreadReader implements Reader {
  readonly #reader: RecordReader

  constructor(database: Database) {
    this.#reader = new RecordReader(database, ':memory:')
  }

  async read(query: RecordQuery): Promise<RecordPage> {
    return this.#reader.read(query)
  }

  committed(): void {}

  async close(): Promise<void> {}
}
