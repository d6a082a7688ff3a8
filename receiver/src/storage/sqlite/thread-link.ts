import { parentPort, Worker } from 'node:worker_threads'

/** To the thread; `close` is the last. */
export type ToThread = { readonly id: number; readonly question: unknown } | 'close'
/** From the thread, to one question. */
export type FromThread =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: Error }

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/**
 * Questions to a thread, and its answers. The thread starts with the first one, and again with the next after it has died. It keeps
 * the process alive only while an answer is missing.
 */
export class ThreadLink<Question> {
  readonly #file: URL
  readonly #data: unknown
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #lastId = 0
  #isClosing = false

  /** @param data what the thread finds as `workerData` */
  constructor(file: URL, data: unknown) {
    this.#file = file
    this.#data = data
  }

  /** The answer; rejects with what the thread has thrown, or with the cause of its death. */
  ask(question: Question): Promise<unknown> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#worker ??= this.#start()
      this.#worker.ref()
      this.#worker.postMessage({ id, question } satisfies ToThread)
    })
  }

  /** Resolves when the thread has ended, after all that it was asked before. */
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
      if ('error' in message) waiting?.reject(message.error)
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
 * The thread's side of a ThreadLink. The thread ends by itself when nothing is left to do: ended from outside, it may be in the
 * middle of a step.
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
      port.postMessage({ id, error: error as Error } satisfies FromThread)
    }
  })
}
