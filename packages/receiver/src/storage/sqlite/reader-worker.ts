import { setImmediate, setTimeout } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import type { RecordQuery } from '../record-storage.js'
import { ContentReader } from '../tables/content-reader.js'
import { type Database, openSqlite } from './database.js'
import type { ReaderFiles, ReaderQuestion } from './reader-thread.js'
import { RecordReader } from './record-reader.js'
import { RecordTail } from './record-tail.js'
import { SqliteRows } from './sqlite-rows.js'
import { serve } from './thread-link.js'

// Runs in the thread of ReaderThread.

/** Records wait this long before they are indexed: many at once are cheaper. A query by words does not wait. */
const followDelayMs = 2000

const { path, texts } = workerData as ReaderFiles
const database = open()
const content = new ContentReader(new SqliteRows(database))
const tail = new RecordTail(database)
let records: { readonly database: Database; readonly reader: RecordReader } | undefined
const closing = new AbortController()

serve<ReaderQuestion>({
  async answer(question): Promise<unknown> {
    switch (question.type) {
      case 'records': {
        const { method, query } = question
        if (method === 'read' || method === 'facets' || method === 'counts') {
          if (recordReader().needsIndex(query as RecordQuery)) await follow()
          return recordReader()[method](query as RecordQuery)
        }
        return tail[method](query as never)
      }
      case 'content': {
        const { method, query } = question
        return content[method](query as never)
      }
      case 'follow':
        await setTimeout(followDelayMs, undefined, { signal: closing.signal }).catch(() => {})
        await follow()
        return tidy()
    }
  },
  close() {
    closing.abort()
    database.close()
    records?.database.close()
  },
})

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
