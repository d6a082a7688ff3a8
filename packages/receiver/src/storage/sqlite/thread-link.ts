import { parentPort, Worker } from 'node:worker_threads'

/** The ports of a thread, as other threads call them. The thread itself may answer at once. */
export type Called<Served> = {
  readonly [Port in keyof Served]: {
    readonly [Method in keyof Served[Port]]: Served[Port][Method] extends (...args: infer Args) => infer Result
      ? (...args: Args) => Promise<Awaited<Result>>
      : never
  }
}

/** The call of a method of a port. */
interface Call {
  readonly port: string
  readonly method: string
  readonly args: readonly unknown[]
}

/** A message to the thread. `close` is the last one. */
type ToThread = (Call & { readonly id: number }) | 'close'
/** The thread's answer to one call. */
type FromThread =
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
 * Calls the ports of a thread. The first call starts the thread; if it dies, the next call starts another.
 * The thread keeps the process alive only while an answer is missing.
 */
export class ThreadLink<Served> {
  /** The ports of the thread. Their methods resolve with the answer, or reject with the error that the thread has thrown, or that it died of. */
  readonly ports = propertiesOf((port) =>
    propertiesOf(
      (method) =>
        (...args: readonly unknown[]) =>
          this.#call({ port, method, args }),
    ),
  ) as Called<Served>
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

  #call(call: Call): Promise<unknown> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#worker ??= this.#start()
      this.#worker.ref()
      this.#worker.postMessage({ id, ...call } satisfies ToThread)
    })
  }

  /** Resolves when the thread has answered all calls and has ended. */
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

/** An object that makes each property when it is asked for. One with `then` would be taken for a promise. */
function propertiesOf(make: (name: string) => unknown): object {
  return new Proxy({}, { get: (_, name) => (name === 'then' ? undefined : make(String(name))) })
}

/**
 * The thread's side of a ThreadLink. `close` lets the thread run to its end: `terminate` could hit it in the middle of a write.
 */
export function serve(ports: object, { close }: { readonly close: () => void | Promise<void> }): void {
  const port = parentPort!
  const served = ports as Readonly<Record<string, Readonly<Record<string, (...args: readonly unknown[]) => unknown>>>>
  port.on('message', async (message: ToThread) => {
    if (message === 'close') {
      await close()
      port.close()
      return
    }
    const { id, port: name, method, args } = message
    try {
      port.postMessage({ id, result: await served[name]![method]!(...args) } satisfies FromThread)
    } catch (error) {
      const { errcode } = error as { readonly errcode?: number }
      port.postMessage({ id, error: error as Error, errcode } satisfies FromThread)
    }
  })
}
