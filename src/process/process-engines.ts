import { isMainThread, threadId } from 'node:worker_threads'
import { type Ledger, sumLedger } from '../delivery/ledger.js'
import type { RejectedMessage } from '../diagnostics/channel-messages.js'
import { printLine } from '../diagnostics/stderr.js'
import type { EndOptions, EndStep } from '../engine/ports.js'
import { counted } from '../errors/counted.js'
import { type DrainMode, drainGraceMs } from '../hand-off/drain-requests.js'
import { endOption } from '../options/end-options.js'
import { setImmediate, systemClock, type Timer } from '../runtime/clock.js'
import { hostProcess } from '../runtime/host.js'
import { sharedLevel } from '../runtime/shared-level.js'
import { ProcessCapture } from './capture.js'
import { EarlyWorkers } from './early-workers.js'
import { OffReasons } from './off-reasons.js'
import { ThreadStreams, type WorkerSource } from './pino-streams.js'
import { capacityOf, type QueueCapacity, sumCapacity } from './queue-capacity.js'
import { RecentRejections } from './recent-rejections.js'
import type { RegisteredEngine } from './registered-engine.js'
import { answerMs, RemoteEngines, undelivered } from './remote-engines.js'
import { type Figures, RetiredEngines } from './retired-engines.js'
import { ShutdownBudget } from './shutdown-budget.js'
import { ThreadChannel, type ThreadMessage } from './thread-channel.js'

export interface ProcessEnginesSetting {
  /** @default one whose clock all threads share */
  readonly budget?: ShutdownBudget
  /** Emits `worker` when this thread starts one. @default the process */
  readonly host?: WorkerSource
}

/**
 * Every engine of the process, from one thread: its own engines directly, those of other threads (pino's workers) through a
 * BroadcastChannel and the shared memory of their ledgers.
 *
 *     this thread                      pino's worker
 *     flush() ── drain ──────────────▶ engine.flush()
 *             ◀───────────── drained ─
 *     stats() ◀── shared memory ────── ledger
 */
export class ProcessEngines {
  readonly #local = new Map<string, RegisteredEngine>()
  readonly budget: ShutdownBudget
  /** Engines of other threads. */
  readonly remote: RemoteEngines
  readonly #threadStreams: ThreadStreams
  readonly #channel = new ThreadChannel((message) => this.#receive(message))
  readonly #retired = new RetiredEngines()
  readonly capture = new ProcessCapture((message) => this.#channel.post(message))
  readonly offReasons = new OffReasons((message) => this.#channel.post(message))
  readonly #rejections = new RecentRejections((rejected) => this.#channel.post({ type: 'rejected', rejected }))
  readonly #early = new EarlyWorkers({
    known: () => this.remote.known,
    sawStart: (thread) => this.#threadStreams.sawStart(thread),
    flush: (engines, timeoutMs) => this.remote.drain('flush', { engines, timeoutMs }),
  })
  /** Of the watch of signals. `start`: records may come. `rest`: perhaps none is left. `leave`: they are the application's. */
  changeSignals: (change: 'start' | 'rest' | 'leave') => unknown = () => {}
  #starts = false

  constructor({ budget = new ShutdownBudget(), host = hostProcess }: ProcessEnginesSetting = {}) {
    this.budget = budget
    this.remote = new RemoteEngines(() => this.#channel, budget)
    this.#threadStreams = new ThreadStreams({
      host,
      ended: (thread) => this.#threadEnded(thread),
      runsSluice: async (thread) => {
        if (!this.remote.runsSluice(thread)) await this.#channel.caughtUp()
        return this.remote.runsSluice(thread)
      },
      drained: (thread) => this.#threadDrained(thread),
    })
    this.#channel.post({ type: 'who' })
  }

  /** Engines of this thread. */
  get local(): Iterable<RegisteredEngine> {
    return this.#local.values()
  }

  /** True while each engine of another thread is known, and sees this thread's words in shared memory: one that started earlier does not. */
  get knowsAll(): boolean {
    const { known } = this.remote
    return this.#channel.readsSynchronously && known.every((each) => this.#threadStreams.sawStart(each.threadId))
  }

  get awaitsWorkers(): boolean {
    return this.#threadStreams.isStarting || this.remote.isStarting
  }

  /** An engine will be added. */
  starts(): void {
    this.#starts = true
    this.#channel.post({ type: 'starting', threadId })
  }

  add(engine: RegisteredEngine): void {
    this.#starts = false
    this.#local.set(engine.id, engine)
    if (!engine.options.handleSignals) this.changeSignals('leave')
    this.#announce(engine)
  }

  /** Release a closed engine. Its counts stay in the process's ledger. */
  retire(engine: RegisteredEngine): void {
    if (!this.#local.delete(engine.id)) return
    this.#retired.keep(engine)
    // The thread may end next.
    this.#rejections.tell()
    this.#channel.post({ type: 'retired', id: engine.id })
  }

  /** Time for the end of the process, or for a drain of all of it: the longest of its engines. */
  get shutdownTimeoutMs(): number {
    const local = [...this.#local.values()].map(({ options }) => options.shutdownTimeoutMs)
    const remote = this.remote.known.map(({ options }) => options.shutdownTimeoutMs)
    const known = [...local, ...remote]
    // The options of a worker that is still starting are not known yet.
    return known.length === 0 ? endOption('shutdownTimeoutMs', process.env) : Math.max(...known)
  }

  /** The ledgers of engines with the option `debug`. */
  debugLedgers(): Ledger[] {
    const engines = [...this.#local.values(), ...this.remote.known]
    return engines.filter(({ options }) => options.debug).map((engine) => engine.stats())
  }

  /** The ledger of the whole process. */
  stats(): Ledger {
    const engines: Figures[] = [this.#retired, ...this.#local.values(), ...this.remote.known]
    const ledgers = engines.map((engine) => engine.stats())
    const invalid = ledgers.reduce((sum, ledger) => sum + ledger.invalid, 0)
    const lanes = ledgers.flatMap((ledger) => ledger.lanes)
    return sumLedger(lanes, invalid)
  }

  /** The most that the engines of the process hold in memory, those that are closed left out. */
  capacity(): QueueCapacity {
    const local = [...this.#local.values()].map(({ options }) => capacityOf(options))
    return sumCapacity([...local, ...this.remote.known.flatMap(({ capacity }) => capacity ?? [])])
  }

  /** The last rejected records of the process, the newest last. */
  rejections(): readonly RejectedMessage[] {
    this.#channel.catchUp()
    return this.#rejections.list
  }

  /** Tell the level of `setLevel`, if it was ever set, to threads that do not share this thread's memory. */
  tellLevel(): void {
    const { change } = sharedLevel()
    if (change !== undefined) this.#channel.post({ type: 'level', change })
  }

  /**
   * Drain all records that were logged in the process before the call. Resolves with the ledger, at the deadline at the latest; never
   * rejects.
   * @param askedMs by default `shutdownTimeoutMs`, and for `close` what is left of it
   */
  async drain(mode: DrainMode, askedMs?: number): Promise<Ledger> {
    const timeoutMs = askedMs ?? this.#timeFor(mode)
    const deadline = systemClock.now() + timeoutMs
    const { delivered } = this.stats()
    const left = () => Math.max(0, deadline - systemClock.now())
    // Engines keep the deadline themselves. An answer from another thread may take a moment longer, or never come.
    const expiry = after(timeoutMs + drainGraceMs(mode, timeoutMs) + answerMs, true)
    const within = (work: Promise<unknown>) => Promise.race([work, expiry.over])

    // Node announces a worker in the tick after its start.
    await new Promise((resolve) => setImmediate(resolve))
    await within(this.#early.drain(left(), mode))
    const handOver = this.#threadStreams.handedOver()
    const deadlineTimer = after(left())
    // The streams of pino 9 do not wait for what their workers start.
    await within(Promise.race([handOver.done.then(() => this.remote.started()), deadlineTimer.over]))
    deadlineTimer.cancel()
    await within(this.#drainAll(mode, { timeoutMs: left(), brief: askedMs === undefined }))
    expiry.cancel()
    handOver.release()
    const ledger = this.stats()
    const inVain = left() === 0 && undelivered(ledger) > 0 && ledger.delivered === delivered
    if (mode === 'flush' && inVain && timeoutMs >= this.shutdownTimeoutMs) this.budget.flushedInVain()
    return ledger
  }

  /**
   * At the end of the process: close the engines of the application's threads, and of streams that pino does not end. Does nothing outside
   * the main thread: the others live on.
   */
  endThreads(): { readonly steps: readonly EndStep[]; readonly engines: readonly Figures[] } {
    if (!isMainThread) return { steps: [], engines: [] }
    const engines = this.remote.known.filter((engine) => undelivered(engine.stats()) > 0)
    return { steps: this.remote.closeSync(engines), engines }
  }

  /** End the streams of pino's targets, as pino does at `exit`. Holds this thread until they are done. */
  endThreadStreams(): void {
    this.#threadStreams.endSync((thread) => this.remote.runsSluice(thread))
  }

  #timeFor(mode: DrainMode): number {
    return mode === 'close' ? this.budget.allotment(this.shutdownTimeoutMs) : this.shutdownTimeoutMs
  }

  async #drainAll(mode: DrainMode, time: EndOptions): Promise<void> {
    const engines = this.remote.known
    const local = [...this.#local.values()].map((engine) => engine[mode](time))
    await Promise.all([...local, this.remote.drain(mode, { engines, ...time })])
  }

  /** Flush the engines of another thread. True when nothing is left. */
  async #threadDrained(thread: number): Promise<boolean> {
    const engines = this.remote.ofThread(thread)
    await this.remote.drain('flush', { engines })
    return engines.every((engine) => undelivered(engine.stats()) === 0)
  }

  #announce({ id, lanes, memory, options, position }: RegisteredEngine): void {
    const { shutdownTimeoutMs, handleSignals, debug, spoolDir } = options
    const spools = spoolDir !== undefined
    const facts = { shutdownTimeoutMs, handleSignals, debug, spools, capacity: capacityOf(options), position }
    this.#channel.post({ type: 'engine', id, threadId, lanes, memory, ...facts })
  }

  #receive(message: ThreadMessage): void {
    switch (message.type) {
      case 'who':
        if (this.#starts) this.starts()
        for (const engine of this.#local.values()) this.#announce(engine)
        this.capture.tell()
        this.offReasons.tell()
        this.tellLevel()
        return
      case 'level':
        sharedLevel().adopt(message.change)
        return
      case 'starting':
        this.changeSignals('start')
        this.remote.starts(message.threadId)
        return
      case 'engine':
        this.changeSignals(message.handleSignals ? 'start' : 'leave')
        this.remote.add(message)
        this.#early.announced(message)
        return
      case 'drain': {
        const { id, mode, request, timeoutMs, brief } = message
        const engine = this.#local.get(id)
        if (engine !== undefined && mode === 'park') this.budget.grant(engine, timeoutMs)
        void engine?.[mode]({ timeoutMs, brief }).then(() => {
          this.#rejections.tell()
          this.#channel.post({ type: 'drained', request })
        })
        return
      }
      case 'drained':
        this.remote.answered(message.request)
        return
      case 'off':
        this.offReasons.receive(message)
        return
      case 'rejected':
        this.#rejections.receive(message.rejected)
        return
      case 'retired': {
        const engine = this.remote.remove(message.id)
        if (engine !== undefined) this.#retired.keep(engine)
        return
      }
      case 'capture':
      case 'captured':
        this.capture.receive(message)
    }
  }

  #threadEnded(thread: number): void {
    this.remote.threadEnded(thread)
    for (const engine of this.remote.ofThread(thread)) {
      this.remote.remove(engine.id)
      // pino's worker also ends when its logger is garbage.
      const before = engine.stats()
      const ledger = engine.ended()
      this.#retired.keep({ stats: () => ledger })
      const print = (count: number, fate: string) => {
        if (count > 0) printLine(`${counted(count, 'record')} ${fate}: the worker that delivered them has ended`)
      }
      print(ledger.dropped.shutdown - before.dropped.shutdown, 'lost')
      print(ledger.spooled - before.spooled, 'left to the spool')
    }
  }
}

function after(ms: number, keepAlive = false): { readonly over: Promise<void>; readonly cancel: () => void } {
  let timer: Timer | undefined
  const over = new Promise<void>((resolve) => {
    timer = systemClock.schedule(resolve, ms, keepAlive)
  })
  return { over, cancel: () => timer?.cancel() }
}
