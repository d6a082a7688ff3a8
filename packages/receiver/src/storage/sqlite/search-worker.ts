import { setImmediate, setTimeout } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import type { RecordFilter } from '../record-storage.js'
import { type Database, openToRead } from './database.js'
import { RecordReader } from './record-reader.js'
import type { SearchFiles, SearchPorts } from './search-thread.js'
import { serve } from './thread-link.js'

// Runs in the thread of SearchThread.

/** Records wait this long before they are indexed: many at once are cheaper. A query by words does not wait. */
const followDelayMs = 2000

const { path, texts } = workerData as SearchFiles
let opened: { readonly database: Database; readonly reader: RecordReader } | undefined
const closing = new AbortController()

serve<SearchPorts>(
  {
    searches: {
      read: async (query, ended) => (await readerFor(query, ended)).until(ended).read(query),
      facets: async (query, ended) => (await readerFor(query, ended)).until(ended).facets(query),
      counts: async (query, ended) => (await readerFor(query, ended)).until(ended).counts(query),
    },
    index: {
      async follow() {
        await setTimeout(followDelayMs, undefined, { signal: closing.signal }).catch(() => {})
        while (!closing.signal.aborted && reader().follow()) await setImmediate()
        while (!closing.signal.aborted && reader().tidy()) await setImmediate()
      },
    },
  },
  {
    close() {
      closing.abort()
      opened?.database.close()
    },
  },
)

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
  if (of.needsIndex(filter)) {
    while (of.follow()) {
      await setImmediate()
      of.until(ended).check()
    }
  }
  return of
}
