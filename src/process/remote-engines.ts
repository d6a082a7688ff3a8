import { isMainThread } from 'node:worker_threads'
import { ControlBlock, type DrainMode } from '../control/control-block.js'
import type { Ledger } from '../delivery/ledger.js'
import { LedgerBook } from '../delivery/ledger-book.js'
import { printLine } from '../diagnostics/stderr.js'
import type { EndOptions, EndStep, FlushOptions } from '../engine/ports.js'
import { WorkerPosition } from '../engine/worker-position.js'
import { counted } from '../errors/counted.js'
import { drainGraceMs } from '../hand-off/drain-times.js'
import { isNews, processNow } from '../runtime/shared-state.js'
import { systemThreadLives } from '../runtime/system-thread.js'
import type { QueueCapacity } from './queue-capacity.js'
import type { Figures } from './retired-engines.js'
import type { ShutdownBudget } from './shutdown-budget.js'
import type { ThreadChannel, ThreadMessage } from './thread-channel.js'

/** An engine of another thread, as this thread knows it. */
export interface RemoteEngine extends Figures {
  readonly id: string
  readonly threadId: number
  readonly options: { readonly shutdownTimeoutMs: number; readonly debug: boolean }
  readonly block: ControlBlock
  /** Undefined where the engine has not told it. */
  readonly capacity: QueueCapacity | undefined
  /** The last ledger, once its thread is gone. */
  readonly ended: () => Ledger
  /** True unless its own thread shows its last ledger. */
  readonly showsLast: () => boolean
  /** False when its thread has ended, where the system tells. */
  readonly lives: () => boolean
  /** True while its thread waits for the disk of the spool. */
  readonly isAtDisk: () => boolean
}

/** The engines of other threads. They announce themselves through a channel. Drains and ledgers are in shared memory. */
export class RemoteEngines {
  readonly #channel: () => ThreadChannel
  readonly #engines = new Map<string, RemoteEngine>()
  readonly #budget: ShutdownBudget
  readonly #met: (engine: RemoteEngine) => void
  readonly #lost: (engine: RemoteEngine) => void

  constructor(plan: {
    /** Read when it is needed: its first message makes the first engine known. */
    readonly channel: () => ThreadChannel
    readonly budget: ShutdownBudget
    /** Called with each engine that another thread has opened. */
    readonly met: (engine: RemoteEngine) => void
    /** Called with each engine whose thread has ended before it closed. */
    readonly lost: (engine: RemoteEngine) => void
  }) {
    this.#channel = plan.channel
    this.#budget = plan.budget
    this.#met = plan.met
    this.#lost = plan.lost
  }

  /** All engines that have announced themselves, and live. */
  get known(): readonly RemoteEngine[] {
    this.#channel().catchUp()
    // A thread of a thread ends without an event here.
    for (const { threadId, lives } of this.#engines.values()) if (!lives()) this.#forget(threadId)
    return [...this.#engines.values()]
  }

  ofThread(thread: number): readonly RemoteEngine[] {
    return this.known.filter(({ threadId }) => threadId === thread)
  }

  /** True for a thread with an engine. */
  runsSluice(thread: number): boolean {
    return this.ofThread(thread).length > 0
  }

  /** A thread has ended, and with it the threads that it had started. */
  threadEnded(thread: number): void {
    void this.known
    this.#forget(thread)
  }

  #forget(thread: number): void {
    for (const engine of [...this.#engines.values()].filter(({ threadId }) => threadId === thread)) {
      this.remove(engine.id)
      this.#lost(engine)
    }
  }

  add({ id, lanes, memory, position, systemThread = 0, ...facts }: ThreadMessage & { type: 'engine' }): void {
    const block = ControlBlock.open(memory)
    if (this.#engines.has(id) || block === undefined) return
    const book = new LedgerBook(lanes, memory)
    const place = position === undefined ? undefined : new WorkerPosition(position)
    const isAtDisk = () => place?.atDiskOf !== undefined && place.threadLives
    const { threadId, shutdownTimeoutMs, debug, spools, capacity } = facts
    const options = { shutdownTimeoutMs, debug }
    const ended = () => book.ended({ spools })
    const lives = () => systemThreadLives(systemThread)
    const figures = { stats: () => book.read(), ended, showsLast: () => book.showsLast() }
    const engine = { id, threadId, options, block, capacity, lives, isAtDisk, ...figures }
    this.#engines.set(id, engine)
    this.#met(engine)
  }

  /** Forget an engine that is gone. Nobody waits for it any more. */
  remove(id: string): RemoteEngine | undefined {
    const engine = this.#engines.get(id)
    this.#engines.delete(id)
    engine?.block.retire()
    return engine
  }

  /** Drain engines at the same time, each within its own `shutdownTimeoutMs` where no time is given. */
  async drain(mode: DrainMode, { engines, ...time }: { engines: readonly RemoteEngine[] } & EndOptions) {
    await Promise.all(engines.map((engine) => answered(mode, engine, time)))
  }

  /** True while there are records that have not had their time to be delivered before the end. */
  get pending(): boolean {
    return this.#pending().length > 0
  }

  /** Deliver before the streams of these threads end, all at the same time, each engine within its own budget. */
  async park(): Promise<void> {
    const budget = this.#budget
    await Promise.all(
      this.#pending().map(async (engine) => {
        await answered('park', engine, { timeoutMs: budget.grant(engine), holdsProcess: true })
        budget.spend(engine)
      }),
    )
  }

  /** The same without waiting for it, at an exit, where pino ends one stream after another. */
  beginParking(): void {
    for (const engine of this.#pending()) ask('park', engine, { timeoutMs: this.#budget.grant(engine) })
  }

  /** Close engines while this thread is held, step by step, each within what is left of its time. `silent` has the engines that have not answered. */
  closeSync(engines: readonly RemoteEngine[]): {
    readonly steps: readonly EndStep[]
    readonly silent: ReadonlySet<RemoteEngine>
  } {
    const silent = new Set(engines)
    const steps = engines.map((engine) => {
      const { drain, until } = ask('close', engine, { timeoutMs: this.#budget.remaining(engine) })
      return (waitMs: number) => {
        if (engine.block.waitAnswered(drain, Math.min(waitMs, pollMs))) silent.delete(engine)
        return !silent.has(engine) || processNow() >= until || !engine.lives()
      }
    })
    return { steps, silent }
  }

  #pending(): readonly RemoteEngine[] {
    if (!isMainThread) return []
    return this.known.filter((engine) => undelivered(engine.stats()) > 0 && this.#budget.remaining(engine) > 0)
  }
}

/** Ask for a drain, which is brief unless the application has given a time. `until`: when its answer is given up. */
function ask(
  mode: DrainMode,
  engine: RemoteEngine,
  { timeoutMs, brief = true }: EndOptions,
): { drain: number; until: number } {
  const withinMs = timeoutMs ?? engine.options.shutdownTimeoutMs
  const now = processNow()
  const drain = engine.block.ask({ mode, until: now + withinMs, brief })
  // An engine keeps the deadline itself, and then has to tell what it has left to its spool.
  return { drain, until: now + withinMs + drainGraceMs('park', withinMs) + answerMs }
}

/** The same, until it is answered. */
function answered(mode: DrainMode, engine: RemoteEngine, { holdsProcess, ...time }: FlushOptions): Promise<void> {
  const { drain, until } = ask(mode, engine, time)
  return engine.block.whenAnswered(drain, until, holdsProcess)
}

/** Time between two looks whether another thread lives, at the end. */
const pollMs = 5
/** Time for an answer from another thread. */
export const answerMs = 20

/** Count of records that are not settled. */
export function undelivered({ queued, inFlight }: Pick<Ledger, 'queued' | 'inFlight'>): number {
  return queued + inFlight
}

/**
 * The ledger of an engine whose thread has ended: it was terminated, or its logger was garbage, which ends a worker of pino. `tells`: nothing
 * else tells what is lost with it.
 */
export function lastLedger(engine: RemoteEngine, { tells }: { readonly tells: boolean }): Ledger {
  const before = engine.stats()
  const ledger = engine.ended()
  const lost = [ledger.dropped.shutdown - before.dropped.shutdown, 'lost'] as const
  const left = [ledger.spooled - before.spooled, 'left to the spool'] as const
  for (const [count, fate] of [lost, left]) {
    // Other threads may have found out, too.
    if (count === 0 || !tells || !isNews(`${engine.id} ${fate}`)) continue
    printLine(`${counted(count, 'record')} ${fate}: the worker that delivered them has ended`)
  }
  return ledger
}

/** Records of lanes that may send: a wrong key delays nothing. */
export function sendable(engines: readonly Figures[]): number {
  const lanes = engines.flatMap((engine) => engine.stats().lanes).filter(({ state }) => state !== 'paused')
  return lanes.reduce((sum, lane) => sum + undelivered(lane), 0)
}
