import { Worker } from 'node:worker_threads'
import type { RecordPage, RecordQuery } from '../record-storage.js'
import type { Reader } from './reader.js'

/** To the thread: a question, that there is something to index, or that this is the end. */
export type ToReader =
  | { readonly type: 'read'; readonly id: number; readonly query: RecordQuery }
  | { readonly type: 'follow' | 'close' }
/** From the thread: the answer to a question, or that the index has followed. */
export type FromReader =
  | { readonly type: 'page'; readonly id: number; readonly page: RecordPage }
  | { readonly type: 'failure'; readonly id: number; readonly error: Error }
  | { readonly type: 'followed' }

interface Waiting {
  readonly resolve: (page: RecordPage) => void
  readonly reject: (error: Error) => void
}

/**
 * Reads in a thread with a connection of its own, so that a heavy question holds no record up. The thread is started when it is
 * first needed, and again after it has died.
 */
export class ReaderThread implements Reader {
  readonly #files: { readonly path: string; readonly texts: string }
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #lastId = 0
  /** `behind` while it indexes and there is more since. */
  #index: 'idle' | 'following' | 'behind' = 'idle'

  /** @param files the database, and the text index beside it */
  constructor(files: { readonly path: string; readonly texts: string }) {
    this.#files = files
  }

  read(query: RecordQuery): Promise<RecordPage> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#post({ type: 'read', id, query })
    })
  }

  committed(): void {
    if (this.#index === 'idle') this.#post({ type: 'follow' })
    this.#index = this.#index === 'idle' ? 'following' : 'behind'
  }

  async close(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    this.#post({ type: 'close' })
    await ended
  }

  #post(message: ToReader): void {
    this.#worker ??= this.#start()
    this.#worker.postMessage(message)
  }

  #start(): Worker {
    const worker = new Worker(new URL('./reader-worker.js', import.meta.url), { workerData: this.#files })
    let cause: Error | undefined
    worker.on('message', (message: FromReader) => this.#take(message))
    worker.on('error', (error: Error) => {
      cause = error
      process.stderr.write(`sluice-receiver: the thread that reads records has failed: ${error.message}\n`)
    })
    worker.on('exit', () => {
      this.#worker = undefined
      this.#index = 'idle'
      for (const { reject } of this.#waiting.values()) {
        reject(new Error('the thread that reads records has ended', cause === undefined ? undefined : { cause }))
      }
      this.#waiting.clear()
    })
    worker.unref()
    return worker
  }

  #take(message: FromReader): void {
    if (message.type === 'followed') {
      const behind = this.#index === 'behind'
      this.#index = 'idle'
      if (behind) this.committed()
      return
    }
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.type === 'page') waiting?.resolve(message.page)
    else waiting?.reject(message.error)
  }
}
