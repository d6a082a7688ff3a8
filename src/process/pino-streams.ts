import type { Worker } from 'node:worker_threads'
import { flushWhileItTakes } from './flush-while-it-takes.js'
import { watchLoggers } from './watch-loggers.js'

/** Above this number the oldest stream is released once its records are delivered. */
const maxHeld = 8
/** Above this number it is released in any case: the service may be down for hours. */
const maxWaiting = 32

/** The part of thread-stream's stream that is used here. */
export interface HeldStream {
  once(event: 'ready', listener: () => void): unknown
}

/**
 * Keeps streams to workers that run Sluice from the garbage collector. thread-stream ends the worker of a collected stream, whatever
 * that worker has yet to deliver. A logger that is a constant of a module is garbage as soon as the module has logged its last line,
 * and Node 26 collects it within milliseconds.
 *
 * The bound is for an application that makes loggers without end.
 */
export class HeldStreams {
  readonly #held = new Map<number, HeldStream>()
  readonly #runsSluice: (threadId: number) => Promise<boolean>
  readonly #settled: (threadId: number) => Promise<boolean>

  constructor(plan: {
    /** Resolves once the stream is ready. */
    readonly runsSluice: (threadId: number) => Promise<boolean>
    /** Flush the engines of this thread. True when nothing is left. */
    readonly settled: (threadId: number) => Promise<boolean>
  }) {
    this.#runsSluice = plan.runsSluice
    this.#settled = plan.settled
  }

  hold(threadId: number, stream: HeldStream): void {
    this.#held.set(threadId, stream)
    // A worker that cannot be asked stays held. Its error must not reach the application.
    stream.once('ready', () => void this.#ready(threadId).catch(() => {}))
  }

  release(threadId: number): void {
    this.#held.delete(threadId)
  }

  async #ready(threadId: number): Promise<void> {
    if (await this.#runsSluice(threadId)) await this.#releaseAboveBound()
    else this.release(threadId)
  }

  async #releaseAboveBound(): Promise<void> {
    for (const threadId of this.#above(maxWaiting)) this.release(threadId)
    for (const threadId of this.#above(maxHeld)) if (await this.#settled(threadId)) this.release(threadId)
  }

  /** The oldest streams above the number `most`. */
  #above(most: number): number[] {
    return [...this.#held.keys()].slice(0, Math.max(0, this.#held.size - most))
  }
}

/** The part of thread-stream's main-thread side that is used here. pino's transports are such streams. */
interface ThreadStream {
  readonly ready: boolean
  readonly destroyed: boolean
  once(event: 'ready' | 'close', listener: () => void): unknown
  off(event: 'ready' | 'close', listener: () => void): unknown
  flush(callback: (error?: Error | null) => void): void
  flushSync(): void
  end(): void
}

interface TakePlan {
  readonly runsSluice: (threadId: number) => boolean
  /** Count of the records that a thread has accepted. */
  readonly accepted: (threadId: number) => number
  readonly deadline: number
}

/** Emits `worker` with each worker that this thread starts. */
export interface WorkerSource {
  on(event: 'worker', listener: (worker: Worker) => void): unknown
}

interface StreamWorker extends Worker {
  /** thread-stream keeps its stream here; the reference is weak once the worker is ready. */
  readonly stream?: { deref(): ThreadStream | undefined }
}

/**
 * The workers of thread-stream in this process, among them pino's. A worker is found by the event of its start, so this module must be
 * loaded before pino.
 */
export class ThreadStreams {
  readonly #workers = new Map<number, StreamWorker>()
  /** Living threads whose start was seen or that were found later, thread-stream's and others. */
  readonly #seen = new Set<number>()
  readonly #runsSluice: (threadId: number) => Promise<boolean>
  readonly #ended: (threadId: number) => void
  readonly #held: HeldStreams

  constructor(plan: {
    readonly host: WorkerSource
    /** Called with every worker that ends, whatever it ran. */
    readonly ended: (threadId: number) => void
    /** Resolves once the worker has started. */
    readonly runsSluice: (threadId: number) => Promise<boolean>
    /** Flush the engines of this thread. True when nothing is left. */
    readonly drained: (threadId: number) => Promise<boolean>
  }) {
    this.#runsSluice = plan.runsSluice
    this.#held = new HeldStreams({
      runsSluice: plan.runsSluice,
      settled: (threadId) => this.#handOver(threadId).then(() => plan.drained(threadId)),
    })
    this.#ended = plan.ended
    plan.host.on('worker', (worker: StreamWorker) => this.#add(worker))
  }

  /**
   * Until the returned function is called, learn of the workers that started before this module was loaded, by the lines that are logged to
   * them.
   */
  watchLoggers(): () => void {
    return watchLoggers((stream) => {
      const { worker } = stream as { readonly worker?: StreamWorker }
      if (worker === undefined || this.knows(worker.threadId)) return
      this.#add(worker)
    })
  }

  /** True for a thread whose stream, if it has one, is known. */
  knows(threadId: number): boolean {
    return this.#seen.has(threadId)
  }

  /** True while a thread of thread-stream starts that is not ours. */
  get isStarting(): boolean {
    const streams = [...this.#workers.values()].map(({ stream }) => stream?.deref())
    return streams.some((stream) => stream !== undefined && !stream.ready && !stream.destroyed)
  }

  /** True for a thread of thread-stream. */
  has(threadId: number): boolean {
    return this.#workers.has(threadId)
  }

  #add(worker: StreamWorker): void {
    const { threadId } = worker
    // A thread that has ended has this number.
    if (threadId === -1) return
    this.#seen.add(threadId)
    worker.once('exit', () => {
      this.#seen.delete(threadId)
      this.#workers.delete(threadId)
      this.#held.release(threadId)
      this.#ended(threadId)
    })
    if (typeof worker.stream?.deref !== 'function') return
    this.#workers.set(threadId, worker)
    const stream = worker.stream.deref()
    if (stream !== undefined && !stream.ready) this.#held.hold(threadId, stream)
  }

  /**
   * Wait until every stream whose worker runs Sluice has handed over what was written to it, and for workers that are still starting:
   * they may run Sluice. Until `release` the streams are not collected.
   */
  handedOver(): { readonly done: Promise<unknown>; readonly release: () => void } {
    const streams = new Set([...this.#workers.values()].map(({ stream }) => stream?.deref()))
    const flushing = new Set<StreamWorker>()
    const done = Promise.all([...this.#workers.keys()].map((threadId) => this.#handOver(threadId, flushing)))
    const release = () => {
      streams.clear()
      // A flush that is unfinished at the deadline does not keep the process alive.
      for (const worker of flushing) worker.unref()
    }
    return { done, release }
  }

  /** End the streams whose workers run Sluice, and those whose workers are still starting: they may run it. */
  endSync(runsSluice: (threadId: number) => boolean): void {
    for (const [threadId, worker] of this.#workers) {
      const stream = worker.stream?.deref()
      if (stream === undefined || stream.destroyed) continue
      if (stream.ready && !runsSluice(threadId)) continue
      try {
        stream.flushSync()
        stream.end()
      } catch {
        // thread-stream throws when the worker is gone or does not answer. Its lines are lost in either case.
      }
    }
  }

  /**
   * Hold this thread until the workers that run Sluice have taken all that was written to them, and those that are still starting, which may
   * run it: until `deadline` on the clock at most. False when one has not.
   */
  takeSync({ runsSluice, accepted, deadline }: TakePlan): boolean {
    let all = true
    for (const [threadId, worker] of this.#workers) {
      const stream = worker.stream?.deref()
      if (stream === undefined || stream.destroyed) continue
      const isKnown = runsSluice(threadId)
      if (!isKnown && stream.ready) continue
      try {
        flushWhileItTakes(stream, { progress: () => accepted(threadId), deadline, isStarting: !isKnown })
      } catch {
        all = false
      }
    }
    return all
  }

  async #handOver(threadId: number, flushing = new Set<StreamWorker>()): Promise<void> {
    const worker = this.#workers.get(threadId)
    const stream = worker?.stream?.deref()
    if (worker === undefined || stream === undefined || stream.destroyed) return
    if (!stream.ready && !(await this.#runsSluice(threadId))) await readyOrClosed(stream)
    if (stream.destroyed || !(await this.#runsSluice(threadId))) return
    flushing.add(worker)
    await new Promise<void>((resolve) => stream.flush(() => resolve()))
    flushing.delete(worker)
  }
}

/** The end of each start. Many may wait for it with one listener. */
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
