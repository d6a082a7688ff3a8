import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads'
import type ThreadStream from 'thread-stream'
import { type Standstill, WorkerPosition } from '../engine/worker-position.js'
import { textOf } from '../errors/text-of.js'
import { setImmediate, systemClock } from '../runtime/clock.js'
import { ownThreadEnvironment } from '../runtime/own-thread.js'
import { flushWhileItTakes, patienceMs } from './flush-while-it-takes.js'
import { engineFrame } from './frames.js'
import { Heartbeat } from './heartbeat.js'
import { type EnginePlan, heartbeatQuestion, type OpenEngine, type WorkerMessage, workerStates } from './protocol.js'
import { loadThreadStream, ownStreams, workerFile } from './worker-file.js'

export interface WorkerFailure {
  readonly reason: string
  /** True when an error ended it before it took any line: another worker would end in the same way. */
  readonly cannotStart: boolean
}

export interface WorkerLinkPlan {
  readonly received: (message: WorkerMessage) => void
  /** Called once, when the worker has died or does not answer. Never called by the constructor. */
  readonly failed: (failure: WorkerFailure) => void
  /** True while any work depends on the worker. */
  readonly busy: () => boolean
}

/** One worker, as the supervisor sees it. */
export interface Link {
  readonly standstill: Standstill | undefined
  readonly outlivesItsEnd: boolean
  open(engine: number, plan: EnginePlan): void
  write(engine: number, bytes: Buffer): void
  startsSync(withinMs: number): boolean
  answersSync(withinMs: number): boolean
  flushSync(withinMs: number): boolean
  catchUp(): void
  terminate(): Promise<void>
  terminateSync(): void
}

/** One worker and the stream to it. */
export class WorkerLink implements Link {
  readonly #stream: ThreadStream
  readonly #worker: Worker
  readonly #state: Int32Array
  readonly #position = new WorkerPosition()
  readonly #heartbeat: Heartbeat
  readonly #news: MessagePort
  readonly #received: WorkerLinkPlan['received']
  #over = false
  #gone = false
  /** True when it did not answer, or took no line, while this thread was blocked. */
  #stuck = false
  /** The engine of the last lines. */
  #engine = 0

  /** False where the worker's file is missing: bundlers leave it behind. */
  static get possible(): boolean {
    return workerFile() !== undefined
  }

  /** @throws where no worker may be started */
  constructor(plan: WorkerLinkPlan) {
    const state = new SharedArrayBuffer(4)
    const heartbeat = new SharedArrayBuffer(4)
    this.#state = new Int32Array(state)
    const { port1, port2: news } = new MessageChannel()
    this.#news = port1
    const Stream = loadThreadStream()
    this.#stream = new Stream({
      filename: workerFile()!.href,
      workerData: { state, heartbeat, position: this.#position.memory, news },
      workerOpts: { name: 'sluice', execArgv: [], env: ownThreadEnvironment(), transferList: [news] },
    })
    this.#received = plan.received
    this.#news.on('message', plan.received).unref()
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
      // A thread that ended without an error of its own was terminated. Another one can start.
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
    // thread-stream emits `error` in an immediate, so `close` may come before it.
    this.#stream.on('close', () => setImmediate(() => fail('the worker has ended')))
    // thread-stream calls unref when the worker is ready. A process without other work does not wait for that.
    worker.unref()
  }

  get standstill(): Standstill | undefined {
    return this.#position.standstill
  }

  /** True while the terminated thread still waits for a disk. No process ends before all of its threads. */
  get outlivesItsEnd(): boolean {
    return this.#over && !this.#gone && this.standstill?.at === 'disk' && this.#position.threadLives
  }

  /** Call `ready` when the worker takes lines. */
  onReady(ready: () => void): void {
    this.#stream.once('ready', ready)
  }

  /** Open an engine. Lines for it may be written at once. */
  open(engine: number, plan: EnginePlan): void {
    if (this.#over) return
    const message: OpenEngine = { type: 'sluice.open', engine, plan }
    this.#worker.postMessage(message)
    this.#heartbeat.watch()
  }

  /** Hand over whole lines. The bytes must not change: thread-stream keeps them. */
  write(engine: number, bytes: Buffer): void {
    if (this.#over) return
    if (engine !== this.#engine) {
      this.#engine = engine
      writeWithOwnImmediate(this.#stream, Buffer.from(engineFrame(engine)))
    }
    writeWithOwnImmediate(this.#stream, bytes)
    this.#heartbeat.watch()
  }

  startsSync(withinMs: number): boolean {
    return !this.#over && Atomics.wait(this.#state, 0, workerStates.starting, withinMs) !== 'timed-out'
  }

  /** Block this thread until the worker, which may have to start before, answers. False when it does not within this time. */
  answersSync(withinMs: number): boolean {
    const deadline = systemClock.now() + withinMs
    if (this.#stuck || !this.startsSync(withinMs)) return false
    const leftMs = deadline - systemClock.now()
    const { progress } = this.#position
    if (this.#heartbeat.answersWithin(Math.min(patienceMs, leftMs))) return true
    // On a busy machine a thread may have waited for a processor all the time. One that stands at a line or at the disk has not.
    const stands = this.standstill !== undefined && this.#position.progress === progress
    if (!stands && this.#heartbeat.answersWithin(Math.min(withinMs / 2, deadline - systemClock.now()))) return true
    this.#stuck = leftMs >= patienceMs
    return false
  }

  /** Block this thread until the worker has taken all lines. False when it has not within this time. */
  flushSync(withinMs: number): boolean {
    if (this.#over || this.#stuck) return false
    const deadline = systemClock.now() + withinMs
    try {
      flushWhileItTakes(this.#stream, { progress: () => this.#position.progress, deadline })
      return true
    } catch {
      this.#stuck = systemClock.now() < deadline
      return false
    }
  }

  /** Receive the messages that have been sent so far, without the event loop. */
  catchUp(): void {
    for (;;) {
      const news = receiveMessageOnPort(this.#news)
      if (news === undefined) return
      this.#received(news.message)
    }
  }

  /**
   * End the thread. First it stops to take lines, and has a moment to finish the one at which it is, and to write to the disk. Resolves when
   * the thread is gone, or after little more than 1.5 s: a thread that waits for a disk cannot be ended.
   */
  async terminate(): Promise<void> {
    this.#over = true
    this.#heartbeat.stop()
    Atomics.store(this.#state, 0, workerStates.halted)
    await new Promise((resolve) => setImmediate(resolve))
    const patientUntil = systemClock.now() + lastWorkMs
    while (this.standstill !== undefined && !this.#gone && systemClock.now() < patientUntil) {
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

  get #isReading(): boolean {
    return Atomics.load(this.#state, 0) !== workerStates.starting
  }
}

const maxTerminationMs = 1000
/** A halted worker has this time to finish its work. On a busy machine, a thread may wait a tenth of a second for a processor. */
const lastWorkMs = 500
const betweenLooksMs = 5
/** thread-stream's message about a thread that ended without an error of its own. */
const endedByOthers = 'the worker thread exited'
const terminationMs = 20

/**
 * thread-stream uses the global `setImmediate`. A fake one, which a test installs for a while, would stop the stream for good: it gets
 * Node's own during the write.
 */
function writeWithOwnImmediate(stream: ThreadStream, bytes: Buffer): void {
  const present = globalThis.setImmediate
  if (present !== setImmediate) Reflect.set(globalThis, 'setImmediate', setImmediate)
  try {
    stream.write(bytes as unknown as string)
  } finally {
    if (present !== setImmediate) Reflect.set(globalThis, 'setImmediate', present)
  }
}
