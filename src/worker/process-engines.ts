import { randomUUID } from 'node:crypto'
import { isMainThread, threadId } from 'node:worker_threads'
import { systemClock } from '../delivery/clock.js'
import { givenUp, type Ledger, sumLedger } from '../delivery/ledger.js'
import { LedgerBook } from '../delivery/ledger-book.js'
import { type DrainMode, drainGraceMs } from './drain-requests.js'
import { hostGlobal } from './host.js'
import { ProcessCapture } from './process-capture.js'
import type { EndStep, RecordPort } from './record-port.js'
import { type Figures, RetiredEngines } from './retired-engines.js'
import { printLine } from './telling.js'
import { ThreadChannel, type ThreadMessage } from './thread-channel.js'
import { ThreadStreams } from './thread-streams.js'

/** What every engine can do for the process, whichever thread and whichever copy of this package it lives in. */
type LocalEngine = Pick<
  RecordPort,
  'id' | 'lanes' | 'memory' | 'stats' | 'flush' | 'park' | 'close' | 'closed' | 'options' | 'ending' | 'endSync'
>

interface RemoteEngine extends Figures {
  readonly threadId: number
  readonly shutdownTimeoutMs: number
  readonly debug: boolean
  readonly spools: boolean
}

/**
 * Every engine of the process, as one thread sees it: its own directly, those of other threads (pino's workers) through a
 * BroadcastChannel and the shared memory of their ledgers.
 *
 *     this thread                      pino's worker
 *     flush() ── drain ──────────────▶ engine.flush()
 *             ◀───────────── drained ─
 *     stats() ◀── shared memory ────── ledger
 */
export class ProcessEngines {
  readonly #local = new Map<string, LocalEngine>()
  readonly #remote = new Map<string, RemoteEngine>()
  /** Requests to engines of other threads, by request. */
  readonly #waiting = new Map<string, { readonly id: string; readonly resolve: () => void }>()
  readonly #threadStreams = new ThreadStreams({
    ended: (thread) => this.#threadEnded(thread),
    runsSluice: async (thread) => {
      if (this.#enginesOf(thread).length === 0) await this.#channel.heard()
      return this.#enginesOf(thread).length > 0
    },
    drained: (thread) => this.#threadDrained(thread),
  })
  readonly #channel = new ThreadChannel((message) => this.#receive(message))
  readonly #retired = new RetiredEngines()
  readonly capture = new ProcessCapture((message) => this.#channel.post(message))
  #leaveSignals = () => {}

  constructor() {
    this.#channel.post({ type: 'who' })
  }

  /** Engines of this thread. */
  get local(): Iterable<LocalEngine> {
    return this.#local.values()
  }

  /** What to do when an engine of any thread has the option `handleSignals: false`. */
  onLeaveSignals(leave: () => void): void {
    this.#leaveSignals = leave
  }

  add(engine: LocalEngine): void {
    this.#local.set(engine.id, engine)
    if (!engine.options.handleSignals) this.#leaveSignals()
    this.#announce(engine)
  }

  /** Let go of an engine that is closed. Its figures stay, those of the last ones with what may still come to them. */
  retire(engine: LocalEngine): void {
    if (!this.#local.delete(engine.id)) return
    this.#retired.keep(engine)
    this.#channel.post({ type: 'retired', id: engine.id })
  }

  /** How long the end of the process, or a drain of all of it, may take: the longest that an engine was told. */
  get shutdownTimeoutMs(): number {
    this.#channel.catchUp()
    const local = [...this.#local.values()].map(({ options }) => options.shutdownTimeoutMs)
    const remote = [...this.#remote.values()].map(({ shutdownTimeoutMs }) => shutdownTimeoutMs)
    return local.length + remote.length === 0 ? defaultTimeoutMs : Math.max(...local, ...remote)
  }

  /** The ledgers, now, of engines that are to show theirs at the end. */
  debugLedgers(): Ledger[] {
    this.#channel.catchUp()
    const local = [...this.#local.values()].filter(({ options }) => options.debug)
    const remote = [...this.#remote.values()].filter(({ debug }) => debug)
    return [...local, ...remote].map((engine) => engine.stats())
  }

  /** The ledger of the whole process, now. */
  stats(): Ledger {
    this.#channel.catchUp()
    const engines: Figures[] = [this.#retired, ...this.#local.values(), ...this.#remote.values()]
    const ledgers = engines.map((engine) => engine.stats())
    const invalid = ledgers.reduce((sum, ledger) => sum + ledger.invalid, 0)
    return sumLedger(
      ledgers.flatMap(({ lanes }) => lanes),
      invalid,
    )
  }

  /**
   * Drain every engine of the process, of what was logged before the call. Resolves with the ledger at the deadline at the latest;
   * never rejects.
   */
  async drain(mode: DrainMode, timeoutMs: number): Promise<Ledger> {
    const clock = systemClock
    const deadline = clock.now() + timeoutMs
    const left = () => Math.max(0, deadline - clock.now())
    let expire = () => {}
    const expired = new Promise<void>((resolve) => {
      expire = resolve
    })
    // Engines keep the deadline themselves; what answers from another thread may take a moment longer, or never come.
    const timer = clock.schedule(() => expire(), timeoutMs + drainGraceMs[mode] + graceMs, true)
    const within = (work: Promise<unknown>) => Promise.race([work, expired])

    // Node announces a worker in the tick after its start.
    await new Promise((resolve) => setImmediate(resolve))
    const handOver = this.#threadStreams.handedOver()
    await Promise.race([handOver.done, waited(left()), expired])
    await within(this.#drainAll(mode, left()))
    timer.cancel()
    handOver.release()
    return this.stats()
  }

  /**
   * At the end of the process: have engines of the application's own threads close, which end with it unseen. Nothing in a thread
   * that ends by itself: the others live on.
   */
  endThreads(): { readonly steps: readonly EndStep[]; readonly undelivered: () => number } {
    if (!isMainThread) return { steps: [], undelivered: () => 0 }
    this.#channel.catchUp()
    const engines = [...this.#remote].filter(
      ([, engine]) => !this.#threadStreams.has(engine.threadId) && undelivered(engine.stats()) > 0,
    )
    const nobody = new Int32Array(new SharedArrayBuffer(4))
    const steps = engines.map(([id, engine]): EndStep => {
      const timeoutMs = engine.shutdownTimeoutMs
      const deadline = systemClock.now() + timeoutMs
      this.#channel.post({ type: 'drain', mode: 'close', id, request: randomUUID(), timeoutMs })
      return (waitMs) => {
        if (undelivered(engine.stats()) === 0 || systemClock.now() >= deadline) return true
        Atomics.wait(nobody, 0, 0, Math.min(waitMs, pollMs))
        return false
      }
    })
    return { steps, undelivered: () => engines.reduce((sum, [, engine]) => sum + undelivered(engine.stats()), 0) }
  }

  /** End the streams of pino's targets, as pino does at `exit`: holds this thread until they are done. */
  endThreadStreams(): void {
    this.#threadStreams.endSync((thread) => this.#enginesOf(thread).length > 0)
  }

  async #drainAll(mode: DrainMode, timeoutMs: number): Promise<void> {
    this.#channel.catchUp()
    const local = [...this.#local.values()].map((engine) => engine[mode]({ timeoutMs }))
    const remote = [...this.#remote.keys()].map((id) => this.#drainRemote(mode, { id, timeoutMs }))
    await Promise.all([...local, ...remote])
  }

  #drainRemote(mode: DrainMode, { id, timeoutMs }: { id: string; timeoutMs: number }): Promise<void> {
    return new Promise<void>((resolve) => {
      const request = randomUUID()
      this.#waiting.set(request, { id, resolve })
      this.#channel.post({ type: 'drain', mode, id, request, timeoutMs })
    })
  }

  #enginesOf(thread: number): [string, RemoteEngine][] {
    this.#channel.catchUp()
    return [...this.#remote].filter(([, engine]) => engine.threadId === thread)
  }

  /** Have the engines of another thread deliver what they have; whether nothing is left. */
  async #threadDrained(thread: number): Promise<boolean> {
    const engines = this.#enginesOf(thread)
    const drain = ([id, { shutdownTimeoutMs }]: [string, RemoteEngine]) =>
      this.#drainRemote('flush', { id, timeoutMs: shutdownTimeoutMs })
    await Promise.all(engines.map(drain))
    return engines.every(([, engine]) => undelivered(engine.stats()) === 0)
  }

  #announce({ id, lanes, memory, options }: LocalEngine): void {
    const { shutdownTimeoutMs, handleSignals, debug, spoolDir } = options
    const spools = spoolDir !== undefined
    this.#channel.post({ type: 'engine', id, threadId, lanes, memory, shutdownTimeoutMs, handleSignals, debug, spools })
  }

  #receive(message: ThreadMessage): void {
    switch (message.type) {
      case 'who':
        for (const engine of this.#local.values()) this.#announce(engine)
        this.capture.tell()
        return
      case 'engine': {
        if (this.#remote.has(message.id)) return
        const book = new LedgerBook(message.lanes, message.memory)
        const { threadId, shutdownTimeoutMs, handleSignals, debug, spools } = message
        if (!handleSignals) this.#leaveSignals()
        this.#remote.set(message.id, { threadId, shutdownTimeoutMs, debug, spools, stats: () => book.read() })
        return
      }
      case 'drain': {
        const { id, mode, request, timeoutMs } = message
        const drained = this.#local.get(id)?.[mode]({ timeoutMs })
        void drained?.then(() => this.#channel.post({ type: 'drained', request }))
        return
      }
      case 'drained':
        this.#waiting.get(message.request)?.resolve()
        this.#waiting.delete(message.request)
        return
      case 'retired':
        this.#forget(message.id)
        return
      case 'capture':
      case 'captured':
        this.capture.receive(message)
    }
  }

  /** An engine of another thread is gone: keep its figures, and wait for no answer of it. */
  #forget(id: string): void {
    const engine = this.#remote.get(id)
    if (engine === undefined) return
    this.#remote.delete(id)
    this.#retired.keep(engine)
    for (const [request, waiting] of this.#waiting) {
      if (waiting.id !== id) continue
      waiting.resolve()
      this.#waiting.delete(request)
    }
  }

  #threadEnded(thread: number): void {
    for (const [id, engine] of this.#enginesOf(thread)) {
      // pino's worker ends, too, when its logger is garbage.
      const { lanes, invalid, queued, inFlight } = engine.stats()
      const over = lanes.map((lane) => givenUp(lane, engine))
      const ledger = sumLedger(over, invalid)
      this.#remote.set(id, { ...engine, stats: () => ledger })
      const lost = queued + inFlight
      const fate = engine.spools ? 'left to the spool' : 'lost'
      const words = `${lost} record${lost === 1 ? '' : 's'} ${fate}: the worker that delivered them has ended`
      if (lost > 0) printLine(words)
      this.#forget(id)
    }
  }
}

/** Where no engine is known, as of a worker that is still starting: the default of the option `shutdownTimeoutMs`. */
const defaultTimeoutMs = 5000
/** How often the ledger of another thread is looked at, at the end. */
const pollMs = 5
/** What an answer may take from another thread. */
const graceMs = 20

function undelivered({ queued, inFlight }: Ledger): number {
  return queued + inFlight
}

function waited(ms: number): Promise<void> {
  return new Promise((resolve) => systemClock.schedule(resolve, ms))
}

const stateKey = Symbol.for('sluice.process.v1')

/** The one registry of this thread, whichever copy of the package comes first. */
export function processEngines(): ProcessEngines {
  const shared = hostGlobal as { [stateKey]?: ProcessEngines }
  shared[stateKey] ??= new ProcessEngines()
  return shared[stateKey]
}
