import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import ThreadStream from 'thread-stream'
import { setImmediate, systemClock } from '../delivery/clock.js'
import type { LaneName } from '../delivery/ledger.js'
import { LedgerBook } from '../delivery/ledger-book.js'
import { textOf } from '../errors/text-of.js'
import type { ResolvedOptions } from '../options/options.js'
import { placedFolder } from '../spool/placed-folder.js'
import { drainFrame, isRecord } from './frames.js'
import { pulseQuestion, type WorkerMessage, type WorkerPlan, workerStates } from './protocol.js'
import { Pulse } from './pulse.js'
import type { EndStep } from './record-port.js'
import { ownStreams } from './thread-streams.js'

/** Text that was handed over and is kept until the worker has taken it, in case the worker dies. */
interface Kept {
  readonly bytes: Buffer
  /** Records handed over up to its end. */
  readonly end: number
}

/** How long the end of a process waits for a worker that is still starting, and for one that may be stuck. */
const startPatienceMs = 3000
const pulsePatienceMs = 1000
/** A worker that closes its engine keeps the deadline itself; after this much more it is given up. */
const graceMs = 500

/** One worker, the stream to it, and what is on the way. */
export class WorkerLink {
  readonly book: LedgerBook
  readonly #stream: ThreadStream
  readonly #worker: Worker
  readonly #state: Int32Array
  readonly #pulse: Pulse
  readonly #kept: Kept[] = []
  #handed = 0
  #bytes = 0
  #over = false
  /** It did not take anything any more when the end of the process began. */
  #stuck = false

  /** Whether the worker's file is where it is expected; a bundler leaves it behind. */
  static get possible(): boolean {
    return workerFile() !== undefined
  }

  constructor(plan: {
    readonly options: ResolvedOptions
    readonly lanes: readonly LaneName[]
    readonly heard: (message: WorkerMessage) => void
    /** The worker has died, or could not be started. */
    readonly failed: (reason: string) => void
  }) {
    this.book = new LedgerBook(plan.lanes)
    const state = new SharedArrayBuffer(4)
    const pulse = new SharedArrayBuffer(4)
    this.#state = new Int32Array(state)
    const { apiKey, accessToken: _token, onError: _listener, spoolDir, ...rest } = plan.options
    // The ledger that counts is the one on this side.
    const options = { ...rest, debug: false, spoolDir: spoolDir === undefined ? undefined : placedFolder(spoolDir) }
    const workerData: WorkerPlan = { options, apiKey: apiKey.reveal(), memory: this.book.memory, state, pulse }
    this.#stream = new ThreadStream({
      filename: workerFile()!.href,
      workerData: { ...workerData },
      workerOpts: { name: 'sluice', execArgv: [] },
    })
    ownStreams.add(this.#stream)
    const fail = (reason: string) => {
      if (this.#over) return
      this.#over = true
      this.#pulse.stop()
      plan.failed(reason)
    }
    const { worker } = this.#stream as unknown as { worker: Worker }
    this.#worker = worker
    this.#pulse = new Pulse({
      answers: pulse,
      ask: () => worker.postMessage(pulseQuestion),
      busy: () => this.#unsettled,
      stopped: () => {
        fail('it does not answer any more')
        void this.terminate()
      },
    })
    worker.on('error', (error) => fail(textOf(error)))
    this.#stream.on('error', (error: unknown) => fail(textOf(error)))
    this.#stream.on('close', () => fail('the worker has ended'))
    this.#stream.on('sluice', (message: WorkerMessage) => plan.heard(message))
    // thread-stream unrefs when the worker is ready; a process that has nothing else to do need not wait for that.
    worker.unref()
  }

  /** Bytes that the worker has not taken yet. */
  get waitingBytes(): number {
    this.#forgetTaken(this.book.taken)
    return this.#bytes
  }

  /** Hand over whole lines, `records` of which carry one. The bytes must not change: they are kept, and thread-stream holds them. */
  write(bytes: Buffer, records: number): void {
    if (this.#over) return
    this.#handed += records
    this.#bytes += bytes.length
    this.#kept.push({ bytes, end: this.#handed })
    writeOnTime(this.#stream, bytes)
    this.#pulse.watch()
  }

  /** Lines with records that the worker never took. */
  untaken(): string[] {
    const { taken } = this.book
    const lines = this.#kept.flatMap(({ bytes }) => bytes.toString().split('\n').filter(isRecord))
    return lines.slice(Math.max(0, lines.length - (this.#handed - taken)))
  }

  /** Hold this thread until the worker has taken everything; false when it is stuck. */
  handOverSync(): boolean {
    this.#stuck ||= this.#over || !this.#isAlive()
    this.#stuck ||= !this.#flushSync()
    return !this.#stuck
  }

  /**
   * Hold this thread until the worker has taken everything, with the order to close its engine by `timeoutMs`. The answer waits for
   * that. Undefined when the worker is stuck: what it has not taken is still `untaken`.
   */
  endSync(timeoutMs: number): EndStep | undefined {
    if (this.#over || this.#stuck || !this.#isAlive()) return undefined
    const { reading, closed } = workerStates
    this.write(Buffer.from(drainFrame('close', { request: 0, timeoutMs })), 0)
    this.#over = true
    this.#pulse.stop()
    if (!this.#flushSync()) return undefined
    const deadline = systemClock.now() + timeoutMs + graceMs
    return (waitMs) => {
      const left = deadline - systemClock.now()
      if (left > 0) Atomics.wait(this.#state, 0, reading, Math.min(left, waitMs))
      return left <= 0 || Atomics.load(this.#state, 0) === closed
    }
  }

  #isAlive(): boolean {
    if (Atomics.wait(this.#state, 0, workerStates.starting, startPatienceMs) === 'timed-out') return false
    return this.#pulse.isFelt(pulsePatienceMs)
  }

  #flushSync(): boolean {
    try {
      this.#stream.flushSync()
      return true
    } catch {
      return false
    }
  }

  /** End the thread; its engine is closed, or lost. It takes no line more, so that it does not end in the middle of counting one. */
  async terminate(): Promise<void> {
    this.#over = true
    this.#pulse.stop()
    Atomics.store(this.#state, 0, workerStates.halted)
    await new Promise((resolve) => setImmediate(resolve))
    await this.#worker.terminate()
  }

  /** Whether the worker has anything to do. */
  get #unsettled(): boolean {
    if (this.waitingBytes > 0) return true
    const { queued, inFlight } = this.book.read()
    return queued + inFlight > 0
  }

  #forgetTaken(taken: number): void {
    let gone = 0
    while (gone < this.#kept.length && this.#kept[gone]!.end <= taken) this.#bytes -= this.#kept[gone++]!.bytes.length
    if (gone > 0) this.#kept.splice(0, gone)
  }
}

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

declare const __webpack_require__: unknown

/** The worker's file beside this one. In a bundle this is not the file that it was: what lies beside it may be anything. */
function workerFile(): URL | undefined {
  try {
    const here = import.meta.url
    if (typeof __webpack_require__ !== 'undefined' || !/\/worker\/worker-link\.[jt]s$/.test(here)) return undefined
    const file = new URL(`./delivery-worker${here.slice(-3)}`, here)
    return existsSync(fileURLToPath(file)) ? file : undefined
  } catch {
    return undefined
  }
}
