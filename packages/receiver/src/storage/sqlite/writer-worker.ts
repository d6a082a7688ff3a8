import { workerData } from 'node:worker_threads'
import { fromLines } from '../records/written-records.js'
import { SqliteStorage } from './sqlite-storage.js'
import { serve } from './thread-link.js'
import type { WriterPorts } from './threaded-sqlite-storage.js'

// Runs in the writer thread of ThreadedSqliteStorage.

const storage = new SqliteStorage((workerData as { readonly path: string }).path)

const { records, content, projects, keys, pageSessions, views } = storage

serve<WriterPorts>(
  {
    records: {
      store: (lines) => records.store(fromLines(lines)),
      forget: (receivedBeforeMs) => records.forget(receivedBeforeMs),
    },
    content,
    projects,
    keys,
    pageSessions,
    views,
    store: storage,
  },
  { close: () => storage.close() },
)
