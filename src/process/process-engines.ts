import { isMainThread, threadId } from 'node:worker_threads'
import { type Ask, ControlBlock, type DrainMode, timeFor } from '../control/control-block.js'
import { type Ledger, sumLedger } from '../delivery/ledger.js'
import type { RejectedMessage } from '../diagnostics/channel-messages.js'
import { loneOption } from '../options/resolve.js'
import { systemClock } from '../runtime/clock.js'
import { hostProcess } from '../runtime/host.js'
import { sharedLevel } from '../runtime/shared-level.js'
import { processNow } from '../runtime/shared-state.js'
import { systemThread } from '../runtime/system-thread.js'
import { ProcessCapture } from './capture.js'
import { EarlyWorkers } from './early-workers.js'
import { HeldLines } from './held-lines.js'
import { LoggerName } from './logger-name.js'
import { OffReasons } from './off-reasons.js'
import { ThreadStreams, type WorkerSource } from './pino-streams.js'
import { ProcessDrains } from './process-drains.js'
import { ProcessEnd } from './process-end.js'
import { capacityOf, type QueueCapacity, sumCapacity } from './queue-capacity.js'
import { RecentRejections } from './recent-rejections.js'
import type { RegisteredEngine } from './registered-engine.js'
import { lastLedger, type RemoteEngine, RemoteEngines, undelivered } from './remote-engines.js'
import { type Figures, RetiredEngines } from './retired-engines.js'
import { ShutdownBudget } from './shutdown-budget.js'
import { ThreadChannel, type ThreadMessage } from './thread-channel.js'

export interface ProcessEnginesSetting {
  /** @default one whose clock all threads share */
  readonly budget?: ShutdownBudget
  /** Emits `worker` when this thread starts one. @default the process */
  readonly host?: WorkerSource
}

interface LocalEngine {
  readonly engine: RegisteredEngine
  /** Undefined where another copy of this package has opened it, of an unknown version. */
  readonly block: ControlBlock | undefined
  /** Ends its attention to other threads. */
  readonly stop: () => void
}

/**
 * Every engine of the process, from one thread: its own engines directly, those of other threads (pino's workers) through the
 * shared memory of their control blocks, which a BroadcastChannel makes known.
 *
 *     this thread          shared memory       pino's worker
 *     flush() ── ask ────▶ control block ────▶ engine.flush()
 *             ◀────────────────────── answer ─
 *     stats() ◀─────────── ledger ◀───────────
 */
export class ProcessEngines {
  /** The engines of this thread. */
  readonly #local = new Map<string, LocalEngine>()
  readonly end = new ProcessEnd({
    local: () => [...this.#local.values()].flatMap(({ block }) => block ?? []),
    remote: () => this.remote.known.map(({ block }) => block),
  })
  readonly budget: ShutdownBudget
  /** Engines of other threads. */
  readonly remote: RemoteEngines
  readonly #threadStreams: ThreadStreams
  readonly #channel = new ThreadChannel((message) => this.#receive(message))
  readonly #retired = new RetiredEngines()
  readonly capture = new ProcessCapture((message) => this.#channel.post(message))
  readonly loggerName = new LoggerName((message) => this.#channel.post(message))
  readonly offReasons = new OffReasons((message) => this.#channel.post(message))
  /** Of engines that are gone. */
  #toldByGone = 0
  readonly #rejections = new RecentRejections((message) => this.#channel.post(message))
  readonly #early: EarlyWorkers
  readonly #drains: ProcessDrains
  /** Lines of this thread that winston holds back. */
  readonly held = new HeldLines()
  /** Of the watch of signals. `start`: records may come. `rest`: perhaps none is left. `leave`: they are the application's. */
  changeSignals: (change: 'start' | 'rest' | 'leave') => unknown = () => {}

  constructor({ budget, host = hostProcess }: ProcessEnginesSetting = {}) {
    this.budget = budget ?? new ShutdownBudget({ end: this.end })
    this.remote = new RemoteEngines({
      channel: () => this.#channel,
      budget: this.budget,
      met: (engine) => this.end.meet(engine.block),
      lost: (engine) => {
        this.#noteTold(engine)
        const ledger = lastLedger(engine, { tells: this.end.beganAt === undefined })
        this.#keep({ stats: () => ledger }, engine.threadId)
      },
    })
    this.#threadStreams = new ThreadStreams({
      host,
      ended: (thread) => this.remote.threadEnded(thread),
      runsSluice: async (thread) => {
        if (!this.remote.runsSluice(thread)) await this.#channel.caughtUp()
        return this.remote.runsSluice(thread)
      },
      drained: (thread) => this.#threadDrained(thread),
    })
    this.#early = new EarlyWorkers({
      known: () => this.remote.known,
      knows: (thread) => this.#threadStreams.knows(thread),
      flush: (engines, timeoutMs) => this.remote.drain('flush', { engines, timeoutMs }),
    })
    const { remote, held } = this
    this.#drains = new ProcessDrains({ engines: this, remote, streams: this.#threadStreams, early: this.#early, held })
    this.#channel.post({ type: 'who' })
  }

  /** Engines of this thread. */
  get local(): readonly RegisteredEngine[] {
    return [...this.#local.values()].map(({ engine }) => engine)
  }

  get awaitsWorkers(): boolean {
    return this.#threadStreams.isStarting
  }

  add(engine: RegisteredEngine): void {
    const block = ControlBlock.open(engine.memory)
    const stop = block?.whenAsked((ask) => this.#asked(engine, block, ask)) ?? (() => {})
    this.#local.set(engine.id, { engine, block, stop })
    if (!engine.options.handleSignals) this.changeSignals('leave')
    this.#announce(engine)
  }

  /** Release a closed engine. Its counts stay in the process's ledger. */
  retire(engine: RegisteredEngine): void {
    const local = this.#local.get(engine.id)
    if (local === undefined) return
    this.#local.delete(engine.id)
    local.stop()
    local.block?.retire()
    this.#retired.keep(engine)
    // The thread may end next.
    this.#rejections.showLast()
    this.#channel.post({ type: 'retired', id: engine.id })
  }

  /** Time for the end of the process, or for a drain of all of it: the longest of its engines. */
  get shutdownTimeoutMs(): number {
    const local = this.local.map(({ options }) => options.shutdownTimeoutMs)
    const remote = this.remote.known.map(({ options }) => options.shutdownTimeoutMs)
    const known = [...local, ...remote]
    // The options of a worker that is still starting are not known yet.
    return known.length === 0 ? loneOption('shutdownTimeoutMs', process.env) : Math.max(...known)
  }

  /** The ledgers of engines with the option `debug`. */
  debugLedgers(): Ledger[] {
    const engines = [...this.local, ...this.remote.known]
    return engines.filter(({ options }) => options.debug).map((engine) => engine.stats())
  }

  /** The ledger of the whole process. */
  stats(): Ledger {
    const engines: Figures[] = [this.#retired, ...this.local, ...this.remote.known]
    const ledgers = engines.map((engine) => engine.stats())
    const invalid = ledgers.reduce((sum, ledger) => sum + ledger.invalid, 0)
    const lanes = ledgers.flatMap((ledger) => ledger.lanes)
    return sumLedger(lanes, invalid)
  }

  /** Records that engines of other threads have dropped by `shutdown`, and tell themselves. */
  get toldByOthers(): number {
    return this.remote.known.reduce((sum, engine) => sum + toldByItself(engine), this.#toldByGone)
  }

  /** The most that the open engines of the process hold in memory. */
  capacity(): QueueCapacity {
    const local = this.local.map(({ options }) => capacityOf(options))
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
  drain(mode: DrainMode, askedMs?: number): Promise<Ledger> {
    return this.#drains.drain(mode, { timeoutMs: askedMs ?? this.#timeFor(mode), brief: askedMs === undefined })
  }

  /** A `park` that takes this share of `shutdownTimeoutMs`. */
  park(share: number): Promise<Ledger> {
    return this.#drains.drain('park', { timeoutMs: this.shutdownTimeoutMs * share, brief: true })
  }

  /**
   * At the end of the process: close the engines of the application's own threads, which end without an event, and with `streams` those of
   * pino's workers, whose streams end at an exit alone. Does nothing outside the main thread: the others live on.
   */
  endThreads({ streams }: { readonly streams: boolean }): ReturnType<RemoteEngines['closeSync']> & {
    readonly engines: readonly Figures[]
  } {
    const engines = this.remote.known.filter((engine) =>
      this.#threadStreams.has(engine.threadId) ? streams : undelivered(engine.stats()) > 0,
    )
    const ending = isMainThread ? engines : []
    return { ...this.remote.closeSync(ending), engines: ending }
  }

  /** Hold this thread until pino's workers have taken all lines, until `deadline` on the clock at most. False when one has not. */
  takeFromStreams(deadline: number): boolean {
    const accepted = (thread: number) =>
      this.remote.ofThread(thread).reduce((sum, engine) => sum + engine.stats().accepted, 0)
    return this.#threadStreams.takeSync({ runsSluice: (thread) => this.remote.runsSluice(thread), accepted, deadline })
  }

  /** End the streams of pino's targets, as pino does at `exit`. Holds this thread until they are done. */
  endThreadStreams(): void {
    this.#threadStreams.endSync((thread) => this.remote.runsSluice(thread))
  }

  #timeFor(mode: DrainMode): number {
    return mode === 'close' ? this.budget.allotment(this.shutdownTimeoutMs) : this.shutdownTimeoutMs
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
    this.#channel.post({ type: 'engine', id, threadId, systemThread: systemThread(), lanes, memory, ...facts })
  }

  /** Another thread asks an engine of this one for a drain. */
  #asked(engine: RegisteredEngine, block: ControlBlock, ask: Ask): void {
    const time = timeFor(ask, processNow())
    if (ask.mode === 'park') this.budget.grant(engine, time.timeoutMs)
    const deadline = systemClock.now() + time.timeoutMs
    const drained = this.held.arrive(time.timeoutMs / 2).then(() => {
      const timeoutMs = Math.max(0, deadline - systemClock.now())
      return engine[ask.mode]({ ...time, timeoutMs })
    })
    void drained.then(() => {
      this.#rejections.show()
      block.answer(ask.number)
    })
  }

  #receive(message: ThreadMessage): void {
    switch (message.type) {
      case 'who':
        for (const engine of this.local) this.#announce(engine)
        this.capture.tell()
        this.offReasons.tell()
        this.loggerName.tell()
        this.#rejections.tell()
        this.tellLevel()
        return
      case 'level':
        sharedLevel().adopt(message.change)
        return
      case 'engine':
        this.changeSignals(message.handleSignals ? 'start' : 'leave')
        this.remote.add(message)
        this.#early.announced(message)
        return
      case 'name':
        this.loggerName.receive(message)
        return
      case 'off':
        this.offReasons.receive(message)
        return
      case 'rejections':
        this.#rejections.receive(message)
        return
      case 'retired': {
        const engine = this.remote.remove(message.id)
        if (engine === undefined) return
        this.#noteTold(engine)
        this.#keep(engine, engine.threadId)
        return
      }
      case 'capture':
      case 'captured':
        this.capture.receive(message)
    }
  }

  #noteTold(engine: RemoteEngine): void {
    this.#toldByGone += toldByItself(engine)
  }

  #keep(figures: Figures, thread: number): void {
    this.#retired.keep(figures)
    this.#rejections.keep(thread)
  }
}

function toldByItself({ block, stats }: RemoteEngine): number {
  return block.isToldByItself ? stats().dropped.shutdown : 0
}
