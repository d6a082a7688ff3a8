import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import ThreadStream from 'thread-stream'
import { type Standstill, WorkerPosition } from '../engine/worker-position.js'
import { textOf } from '../errors/text-of.js'
import { setImmediate, systemClock } from '../runtime/clock.js'
import { engineFrame } from './frames.js'
import { Heartbeat } from './heartbeat.js'
import { type EnginePlan, heartbeatQuestion, type OpenEngine, type WorkerMessage, workerStates } from './protocol.js'

/** Streams to the workers of this package: each closes its own. */
export const ownStreams = new WeakSet<object>()

/** Why a worker is of no use any more. */
export interface WorkerFailure {
  readonly reason: string
  /** It was ended by an error before it took any line: another one would fare no better. */
  readonly cannotStart: boolean
}

export interface WorkerLinkPlan {
  readonly received: (message: WorkerMessage) => void
  /** Called once, when the worker has died or does not answer; never during the constructor. */
  readonly failed: (failure: WorkerFailure) => void
  /** True while anything depends on the worker. */
  readonly busy: () => boolean
}

/** One worker as the application's thread sees it: a port, so that whoever supervises workers can be tested without any. */
export interface Link {
  readonly standstill: Standstill | undefined
  readonly outlivesItsEnd: boolean
  open(engine: number, plan: EnginePlan): void
  write(engine: number, bytes: Buffer): void
  answersSync(startPatienceMs: number): boolean
  flushSync(): boolean
  terminate(): Promise<void>
  terminateSync(): void
}

/** While this thread waits, a worker that does not answer, or takes no line, for so long is stuck. */
const patienceMs = 1000
const lookMs = 50

/** One worker and the stream to it. */
export class WorkerLink implements Link {
  readonly #stream: ThreadStream
  readonly #worker: Worker
  readonly #state: Int32Array
  readonly #position = new WorkerPosition()
  readonly #heartbeat: Heartbeat
  #over = false
  #gone = false
  /** It did not answer, or took nothing, while this thread waited for it. */
  #stuck = false
  /** The engine that the last lines were for. */
  #engine = 0

  /** False where the worker's file is not where it is expected; a bundler leaves it behind. */
  static get possible(): boolean {
    return workerFile() !== undefined
  }

  /** @throws where no worker may be started */
  constructor(plan: WorkerLinkPlan) {
    const state = new SharedArrayBuffer(4)
    const heartbeat = new SharedArrayBuffer(4)
    this.#state = new Int32Array(state)
    this.#stream = new ThreadStream({
      filename: workerFile()!.href,
      workerData: { state, heartbeat, position: this.#position.memory },
      workerOpts: { name: 'sluice', execArgv: [] },
    })
    ownStreams.add(this.#stream)
    const { worker } = this.#stream as unknown as { worker: Worker }
    this.#worker = worker
    const fail = (reason: string, { cannotStart = false } = {}) => {
      if (this.#over) return
      this.#over = true
      this.#heartbeat.stop()
      plan.failed({ reason, cannotStart })
    }
    const died = (error: unknown) => {
      const reason = textOf(error)
      // Somebody has ended the thread: another one may well start.
      fail(reason, { cannotStart: !this.#isReading && !reason.endsWith(endedByOthers) })
    }
    this.#heartbeat = new Heartbeat({
      answers: heartbeat,
      ask: () => worker.postMessage(heartbeatQuestion),
      started: () => this.#isReading,
      busy: plan.busy,
      stopped: () => fail('it does not answer any more'),
    })
    worker.on('error', died)
    this.#stream.on('error', died)
    worker.once('exit', () => {
      this.#gone = true
    })
    this.#stream.on('close', () => fail('the worker has ended'))
    this.#stream.on('sluice', plan.received)
    // thread-stream unrefs when the worker is ready; a process that has nothing else to do need not wait for that.
    worker.unref()
  }

  get standstill(): Standstill | undefined {
    return this.#position.standstill
  }

  /** True for a thread that waits for a disk and cannot be ended; no process ends before all of its threads have. */
  get outlivesItsEnd(): boolean {
    return this.#over && !this.#gone && this.standstill?.at === 'disk' && this.#position.threadLives
  }

  /** Calls `ready` once the worker takes lines. */
  onReady(ready: () => void): void {
    this.#stream.once('ready', ready)
  }

  /** Open an engine. Lines for it may be written at once. */
  open(engine: number, plan: EnginePlan): void {
    const message: OpenEngine = { type: 'sluice.open', engine, plan }
    if (!this.#over) this.#worker.postMessage(message)
  }

  /** Hand over whole lines. The bytes must not change: thread-stream holds them. */
  write(engine: number, bytes: Buffer): void {
    if (this.#over) return
    if (engine !== this.#engine) {
      this.#engine = engine
      writeOnTime(this.#stream, Buffer.from(engineFrame(engine)))
    }
    writeOnTime(this.#stream, bytes)
    this.#heartbeat.watch()
  }

  /** Hold this thread until the worker answers; false when it does not, or has not started in `startPatienceMs`. */
  answersSync(startPatienceMs: number): boolean {
    if (this.#over || this.#stuck) return false
    if (Atomics.wait(this.#state, 0, workerStates.starting, startPatienceMs) === 'timed-out') return false
    this.#stuck = !this.#heartbeat.answersWithin(patienceMs)
    return !this.#stuck
  }

  /** Hold this thread until the worker has taken everything; false when it stops in the middle. */
  flushSync(): boolean {
    if (this.#over || this.#stuck) return false
    try {
      flushAsLongAsItTakes(this.#stream, () => this.#position.progress)
    } catch {
      this.#stuck = true
    }
    return !this.#stuck
  }

  /**
   * End the thread. It takes no line more, so that it does not end in the middle of counting one, and has a moment to write to the disk what
   * it has taken. Resolves when it is gone, little more than a second later at the latest: what waits for a disk cannot be ended.
   */
  async terminate(): Promise<void> {
    this.#over = true
    this.#heartbeat.stop()
    Atomics.store(this.#state, 0, workerStates.halted)
    await new Promise((resolve) => setImmediate(resolve))
    for (let look = 0; look < maxLooks && this.standstill !== undefined && !this.#gone; look++) {
      await new Promise<void>((resolve) => systemClock.schedule(resolve, betweenLooksMs, true))
    }
    await new Promise<void>((resolve) => {
      const giveUp = () => {
        // Node holds the process until a thread that it was told to end has ended.
        this.#worker.unref()
        resolve()
      }
      const timer = systemClock.schedule(giveUp, maxTerminationMs, true)
      void this.#worker.terminate().then(() => {
        timer.cancel()
        resolve()
      })
    })
  }

  /** The same while this thread cannot wait for it: the thread may live on for some milliseconds. */
  terminateSync(): void {
    this.#over = true
    this.#heartbeat.stop()
    Atomics.store(this.#state, 0, workerStates.halted)
    void this.#worker.terminate()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, terminationMs)
  }

  get #isReading(): boolean {
    return Atomics.load(this.#state, 0) !== workerStates.starting
  }
}

const maxTerminationMs = 1000
/** A worker that has been told to take no more lines may finish what it does: a tenth of a second in all. */
const maxLooks = 20
const betweenLooksMs = 5
/** In thread-stream's words, of a thread that ended with no error of its own. */
const endedByOthers = 'the worker thread exited'
const terminationMs = 20

/**
 * thread-stream hands over by the `setImmediate` of the global object. One that a test has put there and taken away again would leave
 * the stream waiting for ever.
 */
function writeOnTime(stream: ThreadStream, bytes: Buffer): void {
  const present = globalThis.setImmediate
  if (present !== setImmediate) Reflect.set(globalThis, 'setImmediate', setImmediate)
  try {
    stream.write(bytes as unknown as string)
  } finally {
    if (present !== setImmediate) Reflect.set(globalThis, 'setImmediate', present)
  }
}

/**
 * thread-stream's `flushSync` waits ten seconds for a worker that is stuck: all the time that the end of a process has. Here it waits as
 * long as the worker takes lines.
 *
 * @throws when the worker takes none for a second
 */
function flushAsLongAsItTakes(stream: ThreadStream, progress: () => number): void {
  const { wait } = Atomics
  let seen = progress()
  let patientUntil = systemClock.now() + patienceMs
  const isStuck = () => {
    const now = systemClock.now()
    if (progress() !== seen) patientUntil = now + patienceMs
    seen = progress()
    return now >= patientUntil
  }
  const watched = (words: Int32Array, index: number, value: number, ms: number): ReturnType<typeof wait> => {
    const deadline = systemClock.now() + ms
    for (;;) {
      const result = wait(words, index, value, Math.min(lookMs, ms))
      if (result !== 'timed-out' || systemClock.now() >= deadline) return result
      if (isStuck()) throw new Error('the worker takes no line')
    }
  }
  Atomics.wait = watched as typeof wait
  try {
    stream.flushSync()
  } finally {
    Atomics.wait = wait
  }
}

declare const __webpack_require__: unknown

/** The worker's file beside this one. In a bundle this is not the file that it was: what lies beside it may be anything. */
function workerFile(): URL | undefined {
  try {
    const here = import.meta.url
    if (typeof __webpack_require__ !== 'undefined' || !/\/hand-off\/worker-link\.[jt]s$/.test(here)) return undefined
    const file = new URL(`./delivery-worker${here.slice(-3)}`, here)
    return existsSync(fileURLToPath(file)) ? file : undefined
  } catch {
    return undefined
  }
}
