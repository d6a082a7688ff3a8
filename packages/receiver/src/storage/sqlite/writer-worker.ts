import { workerData } from 'node:worker_threads'
import { fromLines } from '../records/written-records.js'
import { SqliteStorage } from './sqlite-storage.js'
import { serve } from './thread-link.js'

// Runs in the writer thread of ThreadedSqliteStorage.

const storage = new SqliteStorage((workerData as { readonly path: string }).path)
const { records, content, projects, keys, pageSessions, views } = storage

const ports = {
  records: {
    /** Stores records, written as lines. Returns the counts of those that came again. */
    store: (lines: string) => records.store(fromLines(lines)),
    forget: (receivedBeforeMs: number) => records.forget(receivedBeforeMs),
  },
  content,
  projects,
  keys,
  pageSessions,
  views,
  store: { check: () => storage.check() },
}
export type WriterPorts = typeof ports

serve(ports, { close: () => storage.close() })
