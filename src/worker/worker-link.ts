import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import ThreadStream from 'thread-stream'
import { type LaneName, LedgerBook } from '../delivery/ledger.js'
import type { ResolvedOptions } from '../options/options.js'
import { isRecord } from './frames.js'
import { ownStreams } from './thread-streams.js'

/** What the worker is started with. Functions and the key's wrapper cannot cross. */
export interface WorkerPlan {
  readonly options: Omit<ResolvedOptions, 'apiKey' | 'onError'>
  readonly apiKey: string
  readonly memory: SharedArrayBuffer
  /** One word: 1 when the worker reads. */
  readonly ready: SharedArrayBuffer
}

/** What the worker says; an event of thread-stream's stream. */
export type WorkerMessage =
  | { readonly type: 'drained'; readonly request: number }
  | { readonly type: 'error'; readonly code: string; readonly text: string }
  | { readonly type: 'channel'; readonly name: string; readonly message: unknown }

/** Text that was handed over and is kept until the worker has taken it, in case the worker dies. */
interface Kept {
  readonly bytes: Buffer
  /** Records handed over up to its end. */
  readonly end: number
}

const entry = new URL('./entry.js', import.meta.url)
/** How long the end of a process waits for a worker that is still starting. */
const startPatienceMs = 3000

/** One worker, the stream to it, and what is on the way. */
export class WorkerLink {
  readonly book: LedgerBook
  readonly #stream: ThreadStream
  readonly #ready: Int32Array
  readonly #kept: Kept[] = []
  #handed = 0
  #bytes = 0
  #over = false

  /** Whether the worker's file is where it is expected; a bundler leaves it behind. */
  static get possible(): boolean {
    try {
      return existsSync(fileURLToPath(entry))
    } catch {
      return false
    }
  }

  constructor(plan: {
    readonly options: ResolvedOptions
    readonly lanes: readonly LaneName[]
    readonly heard: (message: WorkerMessage) => void
    /** The worker has died, or could not be started. */
    readonly failed: (reason: string) => void
  }) {
    this.book = new LedgerBook(plan.lanes)
    const ready = new SharedArrayBuffer(4)
    this.#ready = new Int32Array(ready)
    const { apiKey, onError: _, ...rest } = plan.options
    // The ledger that counts is the one on this side.
    const options = { ...rest, debug: false }
    const workerData: WorkerPlan = { options, apiKey: apiKey.reveal(), memory: this.book.memory, ready }
    this.#stream = new ThreadStream({
      filename: entry.href,
      workerData: { ...workerData },
      workerOpts: { name: 'sluice', execArgv: [] },
    })
    ownStreams.add(this.#stream)
    const fail = (reason: string) => {
      if (this.#over) return
      this.#over = true
      plan.failed(reason)
    }
    const { worker } = this.#stream as unknown as { worker: Worker }
    worker.on('error', (error) => fail(String(error)))
    this.#stream.on('error', (error: unknown) => fail(String(error)))
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

  /** Hand over whole lines, `records` of which carry one. */
  write(text: string, records: number): void {
    if (this.#over) return
    this.#handed += records
    // The same bytes that thread-stream holds, outside the heap: text that waits would be moved about by the garbage collector.
    const bytes = Buffer.from(text)
    this.#bytes += bytes.length
    this.#kept.push({ bytes, end: this.#handed })
    this.#stream.write(bytes as unknown as string)
  }

  /** Lines with records that the worker never took. */
  untaken(): string[] {
    const { taken } = this.book
    const lines = this.#kept.flatMap(({ bytes }) => bytes.toString().split('\n').filter(isRecord))
    return lines.slice(Math.max(0, lines.length - (this.#handed - taken)))
  }

  /** Hold this thread until the worker has taken everything and closed its engine. */
  endSync(): void {
    if (this.#over) return
    this.#over = true
    if (Atomics.wait(this.#ready, 0, 0, startPatienceMs) === 'timed-out') return
    try {
      this.#stream.flushSync()
      this.#stream.end()
    } catch {
      // The worker is stuck: what it has not delivered stands in the ledger.
    }
  }

  /** The worker's engine is closed: end its thread. */
  async terminate(): Promise<void> {
    this.#over = true
    const { worker } = this.#stream as unknown as { worker: Worker }
    await worker.terminate()
  }

  #forgetTaken(taken: number): void {
    let gone = 0
    while (gone < this.#kept.length && this.#kept[gone]!.end <= taken) this.#bytes -= this.#kept[gone++]!.bytes.length
    this.#kept.splice(0, gone)
  }
}
