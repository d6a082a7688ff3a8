import { workerData } from 'node:worker_threads'
import type { RecordQuery } from '../record-storage.js'
import { ContentReader } from '../tables/content-reader.js'
import { openToRead } from './database.js'
import { RecordReader } from './record-reader.js'
import { RecordTail } from './record-tail.js'
import { SqliteRows } from './sqlite-rows.js'
import { serve } from './thread-link.js'

// Runs in the reader thread of ThreadedSqliteStorage, and does all that takes little time.

const database = openToRead((workerData as { readonly path: string }).path)
// The newest page needs no index of words.
const reader = new RecordReader(database, ':memory:')

const ports = {
  newest: { read: (query: RecordQuery) => reader.read(query) },
  tail: new RecordTail(database),
  content: new ContentReader(new SqliteRows(database)),
}
export type ReaderPorts = typeof ports

serve(ports, { close: () => database.close() })
