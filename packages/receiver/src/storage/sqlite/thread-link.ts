import { parentPort, Worker } from 'node:worker_threads'

/** A message to the thread. `close` is the last one. */
export type ToThread = { readonly id: number; readonly question: unknown } | 'close'
/** The thread's answer to one question. */
export type FromThread =
  | { readonly id: number; readonly result: unknown }
  | {
      readonly id: number
      readonly error: Error
      /** SQLite's number of the error, which the copy of an error loses on its way. */
      readonly errcode: number | undefined
    }

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/**
 * Sends questions to a thread and returns its answers. The first question starts the thread; if it dies, the next question starts another.
 * The thread keeps the process alive only while an answer is missing.
 */
export class ThreadLink<Question> {
  readonly #file: URL
  readonly #data: unknown
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #lastId = 0
  #isClosing = false

  /** @param data `workerData` of the thread */
  constructor(file: URL, data: unknown) {
    this.#file = file
    this.#data = data
  }

  /** Resolves with the answer. Rejects with the error that the thread has thrown, or that it died of. */
  ask(question: Question): Promise<unknown> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#worker ??= this.#start()
      this.#worker.ref()
      this.#worker.postMessage({ id, question } satisfies ToThread)
    })
  }

  /** Resolves when the thread has answered all questions and has ended. */
  async close(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    this.#isClosing = true
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    worker.ref()
    worker.postMessage('close' satisfies ToThread)
    await ended
  }

  #start(): Worker {
    const worker = new Worker(this.#file, { workerData: this.#data })
    let cause = new Error('the thread of the store has ended')
    worker.on('message', (message: FromThread) => {
      const waiting = this.#waiting.get(message.id)
      this.#waiting.delete(message.id)
      if (this.#waiting.size === 0 && !this.#isClosing) worker.unref()
      if ('error' in message) waiting?.reject(Object.assign(message.error, { errcode: message.errcode }))
      else waiting?.resolve(message.result)
    })
    worker.on('error', (error: Error) => {
      cause = error
    })
    worker.on('exit', () => {
      this.#worker = undefined
      for (const { reject } of this.#waiting.values()) reject(cause)
      this.#waiting.clear()
    })
    return worker
  }
}

/**
 * The thread's side of a ThreadLink. `close` lets the thread run to its end: `terminate` could hit it in the middle of a write.
 */
export function serve<Question>({
  answer,
  close,
}: {
  readonly answer: (question: Question) => unknown
  readonly close: () => void | Promise<void>
}): void {
  const port = parentPort!
  port.on('message', async (message: ToThread) => {
    if (message === 'close') {
      await close()
      port.close()
      return
    }
    const { id, question } = message
    try {
      port.postMessage({ id, result: await answer(question as Question) } satisfies FromThread)
    } catch (error) {
      const { errcode } = error as { readonly errcode?: number }
      port.postMessage({ id, error: error as Error, errcode } satisfies FromThread)
    }
  })
}
