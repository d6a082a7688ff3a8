import { workerData } from 'node:worker_threads'
import { fromLines } from '../records/written-records.js'
import { SqliteStorage } from './sqlite-storage.js'
import { serve } from './thread-link.js'
import type { WriterQuestion } from './threaded-sqlite-storage.js'

// Runs in the writer thread of ThreadedSqliteStorage.

const storage = new SqliteStorage((workerData as { readonly path: string }).path)

serve<WriterQuestion>({
  answer(question) {
    switch (question.type) {
      case 'append':
        return storage.records.store(fromLines(question.records))
      case 'forget':
        return storage.records.forget(question.receivedBeforeMs)
      case 'check':
        return storage.check()
      case 'call': {
        const port = storage[question.port] as unknown as Record<string, (...args: readonly unknown[]) => unknown>
        return port[question.method]!(...question.args)
      }
    }
  },
  close: () => storage.close(),
})
