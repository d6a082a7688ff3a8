import { setImmediate, setTimeout } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { ContentReader } from './content-reader.js'
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
const content = new ContentReader(database)
const closing = new AbortController()

serve<ReaderQuestion>({
  async answer(question): Promise<unknown> {
    switch (question.type) {
      case 'read':
        if (question.query.text !== undefined) await follow()
        return reader.read(question.query)
      case 'content': {
        const { method, query } = question
        return content[method](query as never)
      }
      case 'follow':
        await setTimeout(followDelayMs, undefined, { signal: closing.signal }).catch(() => {})
        return follow()
    }
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
