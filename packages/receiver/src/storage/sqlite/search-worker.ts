import { setImmediate, setTimeout } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import type { CountQuery, ErrorQuery, RecordFilter, RecordQuery } from '../record-storage.js'
import { type Database, openToRead } from './database.js'
import { RecordReader } from './record-reader.js'
import { serve } from './thread-link.js'

// Runs in the thread of SearchThread.

/** Records wait this long before they are indexed: many at once are cheaper. A query by words does not wait. */
const followDelayMs = 2000

/** Paths of the database and of the text index. */
export interface SearchFiles {
  readonly path: string
  readonly texts: string
}

const { path, texts } = workerData as SearchFiles
let opened: { readonly database: Database; readonly reader: RecordReader } | undefined
const closing = new AbortController()

// A search ends when `ended`, which both threads share, is not 0.
const ports = {
  searches: {
    read: async (query: RecordQuery, ended: Int32Array) => (await readerFor(query, ended)).until(ended).read(query),
    facets: async (query: RecordQuery, ended: Int32Array) => (await readerFor(query, ended)).until(ended).facets(query),
    errors: (query: ErrorQuery, ended: Int32Array) => reader().until(ended).errors(query),
    counts: async (query: CountQuery, ended: Int32Array) => (await readerFor(query, ended)).until(ended).counts(query),
  },
  index: {
    async follow() {
      await setTimeout(followDelayMs, undefined, { signal: closing.signal }).catch(() => {})
      while (!closing.signal.aborted && reader().texts.follow()) await setImmediate()
      while (!closing.signal.aborted && reader().texts.tidy()) await setImmediate()
    },
  },
}
export type SearchPorts = typeof ports

serve(ports, {
  close() {
    closing.abort()
    opened?.database.close()
  },
})

/** The first use makes the index, and each use tries again where that has failed. */
function reader(): RecordReader {
  if (opened !== undefined) return opened.reader
  const database = openToRead(path)
  try {
    opened = { database, reader: new RecordReader(database, texts) }
  } catch (error) {
    database.close()
    throw error
  }
  return opened.reader
}

/** The reader, whose index has what the filter needs. Other questions are answered between the steps of the index. */
async function readerFor(filter: RecordFilter, ended: Int32Array): Promise<RecordReader> {
  const of = reader().until(ended)
  if (of.selection.needsIndex(filter)) {
    while (of.texts.follow()) {
      await setImmediate()
      of.until(ended).check()
    }
  }
  return of
}
