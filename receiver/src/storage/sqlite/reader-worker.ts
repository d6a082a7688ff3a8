import { parentPort, workerData } from 'node:worker_threads'
import { openSqlite } from './open-sqlite.js'
import type { FromReader, ToReader } from './reader-thread.js'
import { RecordReader } from './record-reader.js'

// The thread of ReaderThread: answers questions in their order and lets the text index follow in between.

/** How long records may gather before they are indexed: many at once are cheaper, and a question brings its own forward. */
const followDelayMs = 500

const { path, texts } = workerData as { readonly path: string; readonly texts: string }
const port = parentPort!
const database = openSqlite(path)
database.exec('PRAGMA busy_timeout = 5000')
let waiting: NodeJS.Timeout | undefined
let hasFailed = false
let isClosing = false
const reader = new RecordReader(database, texts)

port.on('message', (message: ToReader) => {
  if (message.type === 'read') {
    if (message.query.text === undefined) answer(message)
    else answerWhenIndexed(message)
  } else if (message.type === 'follow') {
    waiting = setTimeout(follow, followDelayMs)
  } else {
    // The thread ends by itself when nothing is left to do: ended from outside, it may be in the middle of a step.
    isClosing = true
    clearTimeout(waiting)
    database.close()
    port.close()
  }
})

type Question = Extract<ToReader, { readonly type: 'read' }>

/** Who looks for words waits for the index; others are answered in between. */
function answerWhenIndexed(question: Question): void {
  if (isClosing) return
  try {
    if (reader.follow()) {
      setImmediate(() => answerWhenIndexed(question))
      return
    }
  } catch (error) {
    post({ type: 'failure', id: question.id, error: error as Error })
    return
  }
  answer(question)
}

function answer({ id, query }: Question): void {
  try {
    post({ type: 'page', id, page: reader.read(query) })
  } catch (error) {
    post({ type: 'failure', id, error: error as Error })
  }
}

/** One step, then whoever asks, then the next. */
function follow(): void {
  if (isClosing) return
  try {
    if (reader.follow()) {
      setImmediate(follow)
      return
    }
  } catch (error) {
    // Who looks for words is told, too. Records are taken and read by all else.
    if (!hasFailed) process.stderr.write(`sluice-receiver: cannot index texts: ${(error as Error).message}\n`)
    hasFailed = true
  }
  post({ type: 'followed' })
}

function post(message: FromReader): void {
  port.postMessage(message)
}
