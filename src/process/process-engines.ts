import { isMainThread, threadId } from 'node:worker_threads'
import { type Ledger, sumLedger } from '../delivery/ledger.js'
import { printLine } from '../diagnostics/reporter.js'
import type { Drainable, EndParticipant, EndStep, EngineIdentity } from '../engine/ports.js'
import { type DrainMode, drainGraceMs } from '../hand-off/drain-requests.js'
import { loneOption } from '../options/environment.js'
import type { ResolvedOptions } from '../options/options.js'
import { setImmediate, systemClock, type Timer } from '../runtime/clock.js'
import { noteFlushInVain } from '../runtime/end-clock.js'
import { ProcessCapture } from './capture.js'
import { EarlyWorkers } from './early-workers.js'
import { ThreadStreams } from './pino-streams.js'
import { answerMs, RemoteEngines, undelivered } from './remote-engines.js'
import { type Figures, RetiredEngines } from './retired-engines.js'
import { ThreadChannel, type ThreadMessage } from './thread-channel.js'

/** An engine as the registry knows it, whichever copy of this package it comes from. */
export interface RegisteredEngine extends Omit<EngineIdentity, 'options'>, Drainable, EndParticipant {
  /** Memory of its `WorkerPosition`, where it has one. */
  readonly position?: SharedArrayBuffer | undefined
  readonly options: Pick<ResolvedOptions, 'shutdownTimeoutMs' | 'handleSignals' | 'debug' | 'spoolDir'>
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
  readonly #local = new Map<string, RegisteredEngine>()
  /** Those of other threads. */
  readonly remote: RemoteEngines = new RemoteEngines(() => this.#channel)
  readonly #threadStreams = new ThreadStreams({
    ended: (thread) => this.#threadEnded(thread),
    runsSluice: async (thread) => {
      if (this.remote.ofThread(thread).length === 0) await this.#channel.heard()
      return this.remote.ofThread(thread).length > 0
    },
    drained: (thread) => this.#threadDrained(thread),
  })
  readonly #channel = new ThreadChannel((message) => this.#receive(message))
  readonly #retired = new RetiredEngines()
  readonly capture = new ProcessCapture((message) => this.#channel.post(message))
  readonly #early = new EarlyWorkers({
    known: () => this.remote.known,
    sawStart: (thread) => this.#threadStreams.sawStart(thread),
    flush: (engines, timeoutMs) => this.remote.drain('flush', { engines, timeoutMs }),
  })
  #leaveSignals = () => {}

  constructor() {
    this.#channel.post({ type: 'who' })
  }

  /** Engines of this thread. */
  get local(): Iterable<RegisteredEngine> {
    return this.#local.values()
  }

  /** Whether an engine of another thread is known as soon as it has said that it is there. */
  get knowsAtOnce(): boolean {
    return this.#channel.hearsAtOnce
  }

  /** What to do when an engine of any thread has the option `handleSignals: false`. */
  onLeaveSignals(leave: () => void): void {
    this.#leaveSignals = leave
  }

  add(engine: RegisteredEngine): void {
    this.#local.set(engine.id, engine)
    if (!engine.options.handleSignals) this.#leaveSignals()
    this.#announce(engine)
  }

  /** Let go of an engine that is closed. Its figures stay, those of the last ones with what may still come to them. */
  retire(engine: RegisteredEngine): void {
    if (!this.#local.delete(engine.id)) return
    this.#retired.keep(engine)
    this.#channel.post({ type: 'retired', id: engine.id })
  }

  /** How long the end of the process, or a drain of all of it, may take: the longest that an engine was told. */
  get shutdownTimeoutMs(): number {
    const local = [...this.#local.values()].map(({ options }) => options.shutdownTimeoutMs)
    const remote = this.remote.known.map(({ shutdownTimeoutMs }) => shutdownTimeoutMs)
    const known = [...local, ...remote]
    // A worker that is still starting has not said what it was told.
    return known.length === 0 ? loneOption('shutdownTimeoutMs', process.env) : Math.max(...known)
  }

  /** The ledgers, now, of engines that are to show theirs at the end. */
  debugLedgers(): Ledger[] {
    const local = [...this.#local.values()].filter(({ options }) => options.debug)
    const remote = this.remote.known.filter(({ debug }) => debug)
    return [...local, ...remote].map((engine) => engine.stats())
  }

  /** The ledger of the whole process, now. */
  stats(): Ledger {
    const engines: Figures[] = [this.#retired, ...this.#local.values(), ...this.remote.known]
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
    const { delivered } = this.stats()
    const left = () => Math.max(0, deadline - clock.now())
    let expire = () => {}
    const expired = new Promise<void>((resolve) => {
      expire = resolve
    })
    // Engines keep the deadline themselves; what answers from another thread may take a moment longer, or never come.
    const timer = clock.schedule(() => expire(), timeoutMs + drainGraceMs[mode] + answerMs, true)
    const within = (work: Promise<unknown>) => Promise.race([work, expired])

    // Node announces a worker in the tick after its start.
    await new Promise((resolve) => setImmediate(resolve))
    await within(this.#early.drain(left()))
    const handOver = this.#threadStreams.handedOver()
    const enough = waited(left())
    await Promise.race([handOver.done, enough.over, expired])
    enough.cancel()
    await within(this.#drainAll(mode, left()))
    timer.cancel()
    handOver.release()
    const ledger = this.stats()
    const inVain = left() === 0 && undelivered(ledger) > 0 && ledger.delivered === delivered
    if (mode === 'flush' && inVain && timeoutMs >= this.shutdownTimeoutMs) noteFlushInVain()
    return ledger
  }

  /**
   * At the end of the process: have engines of the application's own threads close, which end with it unseen. Nothing in a thread
   * that ends by itself: the others live on.
   */
  endThreads(): { readonly steps: readonly EndStep[]; readonly engines: readonly Figures[] } {
    if (!isMainThread) return { steps: [], engines: [] }
    const engines = this.remote.known.filter(
      (engine) => !this.#threadStreams.has(engine.threadId) && undelivered(engine.stats()) > 0,
    )
    return { steps: this.remote.closeSync(engines), engines }
  }

  /** End the streams of pino's targets, as pino does at `exit`: holds this thread until they are done. */
  endThreadStreams(): void {
    this.#threadStreams.endSync((thread) => this.remote.ofThread(thread).length > 0)
  }

  async #drainAll(mode: DrainMode, timeoutMs: number): Promise<void> {
    const engines = this.remote.known
    const local = [...this.#local.values()].map((engine) => engine[mode]({ timeoutMs }))
    await Promise.all([...local, this.remote.drain(mode, { engines, timeoutMs })])
  }

  /** Have the engines of another thread deliver what they have; whether nothing is left. */
  async #threadDrained(thread: number): Promise<boolean> {
    const engines = this.remote.ofThread(thread)
    await this.remote.drain('flush', { engines })
    return engines.every((engine) => undelivered(engine.stats()) === 0)
  }

  #announce({ id, lanes, memory, options, position }: RegisteredEngine): void {
    const { shutdownTimeoutMs, handleSignals, debug, spoolDir } = options
    const spools = spoolDir !== undefined
    const facts = { shutdownTimeoutMs, handleSignals, debug, spools, position }
    this.#channel.post({ type: 'engine', id, threadId, lanes, memory, ...facts })
  }

  #receive(message: ThreadMessage): void {
    switch (message.type) {
      case 'who':
        for (const engine of this.#local.values()) this.#announce(engine)
        this.capture.tell()
        return
      case 'engine':
        if (!message.handleSignals) this.#leaveSignals()
        this.remote.add(message)
        this.#early.announced(message)
        return
      case 'drain': {
        const { id, mode, request, timeoutMs } = message
        const drained = this.#local.get(id)?.[mode]({ timeoutMs })
        void drained?.then(() => this.#channel.post({ type: 'drained', request }))
        return
      }
      case 'drained':
        this.remote.answered(message.request)
        return
      case 'retired':
        this.#keep(this.remote.remove(message.id))
        return
      case 'capture':
      case 'captured':
        this.capture.receive(message)
    }
  }

  /** The figures of an engine that is gone. */
  #keep(engine: Figures | undefined): void {
    if (engine !== undefined) this.#retired.keep(engine)
  }

  #threadEnded(thread: number): void {
    for (const engine of this.remote.ofThread(thread)) {
      this.remote.remove(engine.id)
      // pino's worker ends, too, when its logger is garbage.
      const before = engine.stats()
      const ledger = engine.ended()
      this.#keep({ ...engine, stats: () => ledger })
      const lost = ledger.dropped.shutdown - before.dropped.shutdown
      const left = ledger.spooled - before.spooled
      for (const [count, fate] of [
        [lost, 'lost'],
        [left, 'left to the spool'],
      ] as const) {
        const words = `${count} record${count === 1 ? '' : 's'} ${fate}: the worker that delivered them has ended`
        if (count > 0) printLine(words)
      }
    }
  }
}

function waited(ms: number): { readonly over: Promise<void>; readonly cancel: () => void } {
  let timer: Timer | undefined
  const over = new Promise<void>((resolve) => {
    timer = systemClock.schedule(resolve, ms)
  })
  return { over, cancel: () => timer?.cancel() }
}
