import type { Worker } from 'node:worker_threads'
import { ownStreams } from '../hand-off/worker-link.js'

/** Beyond so many streams the oldest is let go, once its records are delivered. */
const maxHeld = 8
/** Beyond so many it is let go whatever it holds: the service may be down for hours. */
const maxWaiting = 32

/** What is used of a stream of thread-stream's. */
export interface HeldStream {
  once(event: 'ready', listener: () => void): unknown
}

/**
 * Keeps streams to workers that run Sluice from the garbage collector. thread-stream ends the worker of a stream that nobody can reach any
 * more, whatever it has yet to deliver; a logger that is a constant of a module is out of reach as soon as the module has logged its
 * last line, and Node 26 sees that within milliseconds.
 *
 * An application that makes loggers without end must not gather workers without end: therefore the bound.
 */
export class HeldStreams {
  readonly #held = new Map<number, HeldStream>()
  readonly #runsSluice: (threadId: number) => Promise<boolean>
  readonly #settled: (threadId: number) => Promise<boolean>

  constructor(plan: {
    /** Known once the stream is ready. */
    readonly runsSluice: (threadId: number) => Promise<boolean>
    /** Deliver what this thread has; whether nothing is left. */
    readonly settled: (threadId: number) => Promise<boolean>
  }) {
    this.#runsSluice = plan.runsSluice
    this.#settled = plan.settled
  }

  hold(threadId: number, stream: HeldStream): void {
    this.#held.set(threadId, stream)
    // A worker that cannot be asked stays held: nothing of it may reach the application.
    stream.once('ready', () => void this.#ready(threadId).catch(() => {}))
  }

  release(threadId: number): void {
    this.#held.delete(threadId)
  }

  async #ready(threadId: number): Promise<void> {
    if (await this.#runsSluice(threadId)) await this.#letGoBeyondBound()
    else this.release(threadId)
  }

  async #letGoBeyondBound(): Promise<void> {
    for (const threadId of this.#beyond(maxWaiting)) this.release(threadId)
    for (const threadId of this.#beyond(maxHeld)) if (await this.#settled(threadId)) this.release(threadId)
  }

  /** The oldest, as many as there are more than `most`. */
  #beyond(most: number): number[] {
    return [...this.#held.keys()].slice(0, Math.max(0, this.#held.size - most))
  }
}

/** What is used of thread-stream's main-thread side; pino's transports are such streams. */
interface ThreadStream {
  readonly ready: boolean
  readonly destroyed: boolean
  once(event: 'ready' | 'close', listener: () => void): unknown
  off(event: 'ready' | 'close', listener: () => void): unknown
  flush(callback: (error?: Error | null) => void): void
  flushSync(): void
  end(): void
}

/** Emits `worker` with each worker that this thread starts. */
export interface WorkerSource {
  on(event: 'worker', listener: (worker: Worker) => void): unknown
}

interface StreamWorker extends Worker {
  /** thread-stream keeps its stream here, weakly once the worker is ready. */
  readonly stream?: { deref(): ThreadStream | undefined }
}

/**
 * The workers of thread-stream in this process. They are seen when they start, so that this module must be loaded before
 * pino starts them; other workers are none of our business.
 */
export class ThreadStreams {
  readonly #workers = new Map<number, StreamWorker>()
  /** Threads that were seen to start, of thread-stream's and others, and have not ended. */
  readonly #seen = new Set<number>()
  readonly #runsSluice: (threadId: number) => Promise<boolean>
  readonly #held: HeldStreams

  constructor(plan: {
    readonly host: WorkerSource
    /** Told of every worker that ends, whatever it ran. */
    readonly ended: (threadId: number) => void
    /** Known once the worker has started. */
    readonly runsSluice: (threadId: number) => Promise<boolean>
    /** Deliver what this thread has; whether nothing is left. */
    readonly drained: (threadId: number) => Promise<boolean>
  }) {
    this.#runsSluice = plan.runsSluice
    this.#held = new HeldStreams({
      runsSluice: plan.runsSluice,
      settled: (threadId) => this.#handOver(threadId).then(() => plan.drained(threadId)),
    })
    plan.host.on('worker', (worker: StreamWorker) => {
      const id = worker.threadId
      this.#seen.add(id)
      if (typeof worker.stream?.deref === 'function') this.#add(id, worker)
      worker.once('exit', () => {
        this.#seen.delete(id)
        this.#workers.delete(id)
        this.#held.release(id)
        plan.ended(id)
      })
    })
  }

  /** True for a thread that started after this module was loaded. */
  sawStart(threadId: number): boolean {
    return this.#seen.has(threadId)
  }

  /** Whether this thread is one of thread-stream's. */
  has(threadId: number): boolean {
    return this.#workers.has(threadId)
  }

  #add(threadId: number, worker: StreamWorker): void {
    this.#workers.set(threadId, worker)
    const stream = worker.stream?.deref()
    if (stream !== undefined && !ownStreams.has(stream)) this.#held.hold(threadId, stream)
  }

  /**
   * Wait until every stream whose worker runs Sluice has handed over what was written to it. A worker that is still starting is
   * waited for, because nobody can tell yet what it runs. Until `release` the streams are not garbage.
   */
  handedOver(): { readonly done: Promise<unknown>; readonly release: () => void } {
    const streams = new Set([...this.#workers.values()].map(({ stream }) => stream?.deref()))
    const flushing = new Set<StreamWorker>()
    const done = Promise.all([...this.#workers.keys()].map((threadId) => this.#handOver(threadId, flushing)))
    const release = () => {
      streams.clear()
      // A flush that is not over by the deadline holds the process no longer.
      for (const worker of flushing) worker.unref()
    }
    return { done, release }
  }

  /** End the streams whose workers run Sluice, and those of which nobody can tell yet, for they are still starting. */
  endSync(runsSluice: (threadId: number) => boolean): void {
    for (const [threadId, worker] of this.#workers) {
      const stream = worker.stream?.deref()
      if (stream === undefined || stream.destroyed || ownStreams.has(stream)) continue
      if (stream.ready && !runsSluice(threadId)) continue
      try {
        stream.flushSync()
        stream.end()
      } catch {
        // thread-stream throws where a worker is gone or does not answer: nothing can be done for it here.
      }
    }
  }

  async #handOver(threadId: number, flushing = new Set<StreamWorker>()): Promise<void> {
    const worker = this.#workers.get(threadId)
    const stream = worker?.stream?.deref()
    if (worker === undefined || stream === undefined || stream.destroyed || ownStreams.has(stream)) return
    if (!stream.ready && !(await this.#runsSluice(threadId))) await readyOrClosed(stream)
    if (stream.destroyed || !(await this.#runsSluice(threadId))) return
    flushing.add(worker)
    await new Promise<void>((resolve) => stream.flush(() => resolve()))
    flushing.delete(worker)
  }
}

/** Streams that are starting, and when that is over: many may wait for it, and one listens. */
const starts = new WeakMap<ThreadStream, Promise<void>>()

function readyOrClosed(stream: ThreadStream): Promise<void> {
  let start = starts.get(stream)
  if (start === undefined) {
    start = startOf(stream)
    starts.set(stream, start)
  }
  return start
}

function startOf(stream: ThreadStream): Promise<void> {
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
