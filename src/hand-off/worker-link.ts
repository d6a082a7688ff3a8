import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
// biome-ignore lint/style/useNodejsImportProtocol: webpack bundles the file of a `Worker` from there alone, and breaks one from `node:worker_threads`.
import { Worker } from 'worker_threads'
import { WorkerPosition } from '../engine/worker-position.js'
import { textOf } from '../errors/text-of.js'
import { setImmediate, systemClock } from '../runtime/clock.js'
import { ownThreadEnvironment } from '../runtime/own-thread.js'
import { Heartbeat } from './heartbeat.js'
import {
  type EnginePlan,
  heartbeatQuestion,
  type OpenEngine,
  type WorkerMessage,
  type WorkerPlan,
  workerStates,
} from './protocol.js'

export interface WorkerFailure {
  readonly reason: string
  /** True when an error ended it before it was ready: another worker would end in the same way. */
  readonly cannotStart: boolean
}

export interface WorkerLinkPlan {
  readonly received: (message: WorkerMessage) => void
  /** Called once, when the worker has died or does not answer. Never called by the constructor. */
  readonly failed: (failure: WorkerFailure) => void
  /** True while any work depends on the worker. */
  readonly busy: () => boolean
  /** The place of the record that it takes; undefined while it takes none. */
  readonly taking: () => number | undefined
}

/** One worker, as the supervisor sees it. */
export interface Link {
  /** Number of the engine for which the worker uses the disk. */
  readonly atDiskOf: number | undefined
  readonly outlivesItsEnd: boolean
  open(engine: number, plan: EnginePlan): void
  watch(): void
  startsSync(withinMs: number): boolean
  answersSync(withinMs: number): boolean
  catchUp(): void
  terminate(): Promise<void>
  terminateSync(): void
}

/** One worker. */
export class WorkerLink implements Link {
  readonly #worker: Worker
  readonly #state: Int32Array
  readonly #position = new WorkerPosition()
  readonly #heartbeat: Heartbeat
  readonly #news: MessagePort
  readonly #plan: WorkerLinkPlan
  #over = false
  #gone = false
  /** True when it did not answer while this thread was blocked. */
  #stuck = false

  /** @throws where no worker may be started */
  constructor(plan: WorkerLinkPlan) {
    if (!hasFile()) throw new Error('its file is missing; bundled?')
    const state = new SharedArrayBuffer(4)
    const heartbeat = new SharedArrayBuffer(4)
    this.#plan = plan
    this.#state = new Int32Array(state)
    const { port1, port2: news } = new MessageChannel()
    this.#news = port1
    const workerData: WorkerPlan = { state, heartbeat, position: this.#position.memory, news }
    const worker = startThread(workerData)
    this.#worker = worker
    this.#news.on('message', plan.received).unref()
    this.#heartbeat = new Heartbeat({
      answers: heartbeat,
      ask: () => worker.postMessage(heartbeatQuestion),
      started: () => this.#isRunning,
      busy: plan.busy,
      stopped: () => this.#fail('it does not answer any more'),
    })
    worker.on('error', (error) => this.#fail(textOf(error), { cannotStart: !this.#isRunning }))
    worker.once('exit', () => {
      this.#gone = true
      // A thread that ended without an error of its own was terminated. Another one can start.
      this.#fail('the worker thread exited')
    })
    worker.unref()
  }

  get atDiskOf(): number | undefined {
    return this.#position.atDiskOf
  }

  /** True while the terminated thread still waits for a disk. No process ends before all of its threads. */
  get outlivesItsEnd(): boolean {
    return this.#over && !this.#gone && this.atDiskOf !== undefined && this.#position.threadLives
  }

  /** Resolves when the worker runs. Holds no process. */
  async whenStarted(): Promise<void> {
    await Atomics.waitAsync(this.#state, 0, workerStates.starting).value
  }

  /** Open an engine. Its records may be in its pipe before. */
  open(engine: number, plan: EnginePlan): void {
    if (this.#over) return
    const message: OpenEngine = { type: 'sluice.open', engine, plan }
    this.#worker.postMessage(message)
    this.#heartbeat.watch()
  }

  watch(): void {
    if (!this.#over) this.#heartbeat.watch()
  }

  startsSync(withinMs: number): boolean {
    return !this.#over && Atomics.wait(this.#state, 0, workerStates.starting, withinMs) !== 'timed-out'
  }

  /** Block this thread until the worker, which may have to start before, answers. False when it does not within this time. */
  answersSync(withinMs: number): boolean {
    const deadline = systemClock.now() + withinMs
    if (this.#stuck || !this.startsSync(withinMs)) return false
    const leftMs = deadline - systemClock.now()
    const { taking } = this.#plan
    const before = taking()
    if (this.#heartbeat.answersWithin(Math.min(patienceMs, leftMs))) return true
    // On a busy machine a thread may have waited for a processor all the time. One that stands at a record or at the disk has not.
    const stands = this.atDiskOf !== undefined || (before !== undefined && taking() === before)
    if (!stands && this.#heartbeat.answersWithin(Math.min(withinMs / 2, deadline - systemClock.now()))) return true
    this.#stuck = leftMs >= patienceMs
    return false
  }

  /** Receive the messages that have been sent so far, without the event loop. */
  catchUp(): void {
    for (;;) {
      const news = receiveMessageOnPort(this.#news)
      if (news === undefined) return
      this.#plan.received(news.message)
    }
  }

  /**
   * End the thread. First it stops to take records, and has a moment to finish the one at which it is, and to write to the disk. Resolves
   * when the thread is gone, or after little more than 1.5 s: a thread that waits for a disk cannot be ended.
   */
  async terminate(): Promise<void> {
    this.#over = true
    this.#heartbeat.stop()
    Atomics.store(this.#state, 0, workerStates.halted)
    await new Promise((resolve) => setImmediate(resolve))
    const patientUntil = systemClock.now() + lastWorkMs
    while (this.#works && !this.#gone && systemClock.now() < patientUntil) {
      await new Promise<void>((resolve) => systemClock.schedule(resolve, betweenLooksMs, true))
    }
    await new Promise<void>((resolve) => {
      const giveUp = () => {
        // Node keeps the process alive until a terminated thread has ended.
        this.#worker.unref()
        resolve()
      }
      const timer = systemClock.schedule(giveUp, maxTerminationMs, true)
      void this.#worker.terminate().then(() => {
        timer.cancel()
        resolve()
      })
    })
    // Messages wait for a turn of the event loop, and who receives them leaves after this.
    this.catchUp()
  }

  /** The same without an event loop. The thread may live on for some milliseconds. */
  terminateSync(): void {
    this.#over = true
    this.#heartbeat.stop()
    Atomics.store(this.#state, 0, workerStates.halted)
    void this.#worker.terminate()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, terminationMs)
  }

  #fail(reason: string, { cannotStart = false } = {}): void {
    if (this.#over) return
    this.#over = true
    this.#heartbeat.stop()
    this.#plan.failed({ reason, cannotStart })
  }

  get #isRunning(): boolean {
    return Atomics.load(this.#state, 0) !== workerStates.starting
  }

  /** True while it is at a record or at the disk. */
  get #works(): boolean {
    return this.atDiskOf !== undefined || this.#plan.taking() !== undefined
  }
}

// Not within the call: webpack takes workers with the same literal name for one, and then fails where Next.js builds the file for several layers.
const threadName = 'sluice'

/** In a `try`, for esbuild warns of `import.meta` in CommonJS elsewhere. */
function startThread(workerData: WorkerPlan): Worker {
  try {
    return new Worker(new URL('./delivery-worker.mjs', import.meta.url), {
      name: threadName,
      execArgv: [],
      env: ownThreadEnvironment(),
      trackUnmanagedFds: false,
      workerData,
      transferList: [workerData.news],
    })
  } catch (cause) {
    throw new Error(textOf(cause), { cause })
  }
}

declare const __webpack_require__: unknown

/**
 * False in the bundle of an application that has left the worker's file behind: a thread that cannot start says so in an event, too late for a
 * process that exits at once. webpack gives the file a name of its own.
 */
function hasFile(): boolean {
  if (typeof __webpack_require__ !== 'undefined') return true
  try {
    return existsSync(fileURLToPath(import.meta.url.replace(/[^/]*$/, 'delivery-worker.mjs')))
  } catch {
    // An address that is no file, or none.
    return false
  }
}

/** While this thread is blocked: a worker that does not answer for this time is stuck. */
const patienceMs = 1000
const maxTerminationMs = 1000
/** A halted worker has this time to finish its work. On a busy machine, a thread may wait a tenth of a second for a processor. */
const lastWorkMs = 500
const betweenLooksMs = 5
const terminationMs = 20
