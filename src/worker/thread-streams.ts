import type { Worker } from 'node:worker_threads'
import { hostProcess } from './host.js'

/** What is used of thread-stream's main-thread side; pino's transports are such streams. */
interface ThreadStream {
  readonly ready: boolean
  readonly destroyed: boolean
  once(event: 'ready' | 'close', listener: () => void): unknown
  off(event: 'ready' | 'close', listener: () => void): unknown
  flush(callback: (error?: Error | null) => void): void
}

interface StreamWorker extends Worker {
  /** thread-stream keeps its stream here, weakly once the worker is ready. */
  readonly stream?: { deref(): ThreadStream | undefined }
}

/** Streams to our own workers: their hand-off looks after them. */
export const ownStreams = new WeakSet<object>()

/**
 * The workers of thread-stream in this process. They are seen when they start, so that this module must be loaded before
 * pino starts them; other workers are none of our business.
 */
export class ThreadStreams {
  readonly #workers = new Map<number, StreamWorker>()

  /** @param ended is told of every worker that ends, whatever it ran */
  constructor(ended: (threadId: number) => void) {
    hostProcess.on('worker', (worker: StreamWorker) => {
      const id = worker.threadId
      if (typeof worker.stream?.deref === 'function') this.#workers.set(id, worker)
      worker.once('exit', () => {
        this.#workers.delete(id)
        ended(id)
      })
    })
  }

  /** Whether this thread is one of thread-stream's. */
  has(threadId: number): boolean {
    return this.#workers.has(threadId)
  }

  /**
   * Wait until every stream whose worker runs Sluice has handed over what was written to it. A worker that is still starting is
   * waited for, because nobody can tell yet what it runs. Until `release` the streams are held: thread-stream ends the worker of
   * one that is garbage.
   */
  handedOver(runsSluice: (threadId: number) => boolean): {
    readonly done: Promise<unknown>
    readonly release: () => void
  } {
    const held = new Set<ThreadStream>()
    const one = async (threadId: number, worker: StreamWorker): Promise<void> => {
      const stream = worker.stream?.deref()
      if (stream === undefined || stream.destroyed || ownStreams.has(stream)) return
      held.add(stream)
      if (!stream.ready && !runsSluice(threadId)) await readyOrClosed(stream)
      if (stream.destroyed || !runsSluice(threadId)) return
      await new Promise<void>((resolve) => stream.flush(() => resolve()))
    }
    const done = Promise.all([...this.#workers].map(([threadId, worker]) => one(threadId, worker)))
    return { done, release: () => held.clear() }
  }
}

function readyOrClosed(stream: ThreadStream): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      stream.off('ready', settle)
      stream.off('close', settle)
      resolve()
    }
    stream.once('ready', settle)
    stream.once('close', settle)
  })
}
