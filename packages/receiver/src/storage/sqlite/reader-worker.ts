import { setImmediate, setTimeout } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import type { RecordFilter } from '../record-storage.js'
import { ContentReader } from '../tables/content-reader.js'
import { type Database, openSqlite } from './database.js'
import type { ReaderFiles, ReaderPorts } from './reader-thread.js'
import { RecordReader } from './record-reader.js'
import { RecordTail } from './record-tail.js'
import { SqliteRows } from './sqlite-rows.js'
import { serve } from './thread-link.js'

// Runs in the thread of ReaderThread.

/** Records wait this long before they are indexed: many at once are cheaper. A query by words does not wait. */
const followDelayMs = 2000

const { path, texts } = workerData as ReaderFiles
const database = open()
const tail = new RecordTail(database)
let records: { readonly database: Database; readonly reader: RecordReader } | undefined
const closing = new AbortController()

serve<ReaderPorts>(
  {
    records: {
      read: async (query) => (await readerFor(query)).read(query),
      facets: async (query) => (await readerFor(query)).facets(query),
      counts: async (query) => (await readerFor(query)).counts(query),
      position: (query) => tail.position(query),
      arrivals: (query) => tail.arrivals(query),
      missed: (query) => tail.missed(query),
      oldest: () => tail.oldest(),
      receiptsAround: (ms) => tail.receiptsAround(ms),
    },
    content: new ContentReader(new SqliteRows(database)),
    index: {
      async follow() {
        await setTimeout(followDelayMs, undefined, { signal: closing.signal }).catch(() => {})
        await follow()
        await tidy()
      },
    },
  },
  {
    close() {
      closing.abort()
      database.close()
      records?.database.close()
    },
  },
)

/** The reader, whose index has what the filter needs. */
async function readerFor(filter: RecordFilter): Promise<RecordReader> {
  if (recordReader().needsIndex(filter)) await follow()
  return recordReader()
}

function open(): Database {
  const database = openSqlite(path)
  database.exec('PRAGMA busy_timeout = 5000; PRAGMA cache_size = -65536')
  return database
}

/** Has its own connection, opened at the first use: content stays readable if the text index cannot be opened. */
function recordReader(): RecordReader {
  if (records !== undefined) return records.reader
  const indexed = open()
  try {
    records = { database: indexed, reader: new RecordReader(indexed, texts) }
  } catch (error) {
    indexed.close()
    throw error
  }
  return records.reader
}

/** Updates the index in steps. Other questions are answered between them. */
async function follow(): Promise<void> {
  while (!closing.signal.aborted && recordReader().follow()) await setImmediate()
}

/** Drops the parts of the index whose records are gone. Other questions are answered between them. */
async function tidy(): Promise<void> {
  while (!closing.signal.aborted && recordReader().tidy()) await setImmediate()
}
