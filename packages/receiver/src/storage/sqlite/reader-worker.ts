import { workerData } from 'node:worker_threads'
import { ContentReader } from '../tables/content-reader.js'
import { openToRead } from './database.js'
import type { ReaderPorts } from './reader-thread.js'
import { RecordReader } from './record-reader.js'
import { RecordTail } from './record-tail.js'
import { SqliteRows } from './sqlite-rows.js'
import { serve } from './thread-link.js'

// Runs in the thread of ReaderThread.

const database = openToRead((workerData as { readonly path: string }).path)
const tail = new RecordTail(database)
// The newest page needs no index of words.
const reader = new RecordReader(database, ':memory:')

serve<ReaderPorts>(
  {
    records: {
      newest: (query) => reader.read(query),
      position: (query) => tail.position(query),
      arrivals: (query) => tail.arrivals(query),
      missed: (query) => tail.missed(query),
      oldest: () => tail.oldest(),
      receiptsAround: (ms) => tail.receiptsAround(ms),
    },
    content: new ContentReader(new SqliteRows(database)),
  },
  { close: () => database.close() },
)
