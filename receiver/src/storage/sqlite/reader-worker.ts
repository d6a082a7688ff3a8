import { setImmediate, setTimeout } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import type { RecordPage } from '../record-storage.js'
import { openSqlite } from './open-sqlite.js'
import type { ReaderFiles, ReaderQuestion } from './reader-thread.js'
import { RecordReader } from './record-reader.js'
import { serve } from './thread-port.js'

// The thread of ReaderThread.

/** How long records may gather before they are indexed: many at once are cheaper, and who looks for words brings it forward. */
const followDelayMs = 2000

const { path, texts } = workerData as ReaderFiles
const database = openSqlite(path)
database.exec('PRAGMA busy_timeout = 5000; PRAGMA cache_size = -65536')
const reader = new RecordReader(database, texts)
const closing = new AbortController()

serve<ReaderQuestion>({
  async answer(question): Promise<RecordPage | undefined> {
    if (question.type === 'read') {
      if (question.query.text !== undefined) await follow()
      return reader.read(question.query)
    }
    await setTimeout(followDelayMs, undefined, { signal: closing.signal }).catch(() => {})
    await follow()
    return undefined
  },
  close() {
    closing.abort()
    database.close()
  },
})

/** Step by step; other questions are answered in between. */
async function follow(): Promise<void> {
  while (!closing.signal.aborted && reader.follow()) await setImmediate()
}
