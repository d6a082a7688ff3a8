import { LedgerBook } from '../../../src/delivery/ledger-book.js'
import { lanesOf } from '../../../src/engine/engine-setting.js'
import type { Machine } from '../../../src/engine/machine.js'
import { WorkerPosition } from '../../../src/engine/worker-position.js'
import { hostEngines } from '../../../src/hand-off/engine-host.js'
import { Heartbeat } from '../../../src/hand-off/heartbeat.js'
import {
  type EnginePlan,
  heartbeatQuestion,
  type OpenEngine,
  type WorkerMessage,
  workerStates,
} from '../../../src/hand-off/protocol.js'
import type { Link, WorkerLinkPlan } from '../../../src/hand-off/worker-link.js'
import type { ResolvedOptions } from '../../../src/options/options.js'
import { headBytes, padCode } from '../../../src/pipe/frame.js'
import { PipeMemory, word } from '../../../src/pipe/pipe-memory.js'
import type { SimulatedThread } from '../simulated-thread.js'
import { SharedWords } from './shared-words.js'
import type { SimulatedBells } from './simulated-bells.js'

/** The way in which a worker starts. */
export interface WorkerStart {
  /** Time until it takes records. */
  readonly startMs: number
  /** It ends with an error before it takes any record. */
  readonly fails: boolean
}

export interface SimulatedLinkPlan extends WorkerLinkPlan {
  /** The thread of the application. */
  readonly app: SimulatedThread
  /** The thread of the worker. */
  readonly thread: SimulatedThread
  /** The machine, as the worker sees it. */
  readonly machine: Machine
  readonly bells: SimulatedBells
  readonly start: WorkerStart
  readonly latencyMs: () => number
  /** Calls a task after each event of the world. */
  readonly afterEach: (task: () => void) => () => void
  /** True while the worker's thread waits for a disk that does not answer. */
  readonly waitsForDisk: () => boolean
  /** Called before the thread ends because its engine has been closed. */
  readonly closed: () => void
}

/** A line with this sign ends the worker that takes it; with the other one, the worker stops in it. */
export const killingSign = '☠'
export const stallingSign = '⌛'

/** Of a message on its way to the worker, or of a bell. */
export const longestLatencyMs = 0.5
/** As in the real link. */
const patienceMs = 1000
const maxTerminationMs = 1000
const terminationMs = 20

/**
 * The delivery worker in a simulated thread, and the way to it: the messages in their order, with a latency, and the memory that both
 * threads share. The worker's code is the real one, and so is the heartbeat.
 */
export class SimulatedLink implements Link {
  readonly #plan: SimulatedLinkPlan
  readonly #position = new WorkerPosition()
  readonly #state = new SharedArrayBuffer(4)
  readonly #heartbeat: Heartbeat
  readonly #answers = new SharedArrayBuffer(4)
  readonly #startsAt: number
  readonly #messages: unknown[] = []
  #listener: ((message: unknown) => void) | undefined
  #over = false
  #stuck = false
  readonly #shared: (() => void)[] = []
  /** The one engine of the process. */
  #opened:
    | {
        readonly engine: number
        readonly pipe: PipeMemory
        readonly drains: SharedWords
        readonly taken: () => number
      }
    | undefined
  /** The worker has come to a line at which it ends or stalls. */
  #stopped = false

  constructor(plan: SimulatedLinkPlan) {
    const { app, thread, start, afterEach } = plan
    this.#plan = plan
    this.#startsAt = app.clock.now() + start.startMs
    this.#heartbeat = new Heartbeat({
      clock: app.clock,
      answers: this.#answers,
      ask: () => this.#post(heartbeatQuestion),
      started: () => this.#isRunning,
      busy: plan.busy,
      stopped: () => this.#fail('it does not answer any more'),
    })
    const stopSharing = afterEach(() => this.#share())
    thread.whenKilled(() => {
      this.#share()
      stopSharing()
      app.post(() => this.#fail('the worker thread exited'), plan.latencyMs())
    })
    plan.bells.whileBlocked = (ms) => this.#workWhileBlocked(ms)
    thread.post(() => {
      if (start.fails) {
        this.#fail('Error: it cannot start', { cannotStart: true })
        thread.kill()
      } else this.#start()
    }, start.startMs)
  }

  get atDiskOf(): number | undefined {
    const { thread, waitsForDisk } = this.#plan
    return thread.alive && waitsForDisk() ? this.#opened?.engine : this.#position.atDiskOf
  }

  /** True while a record that is written reaches the worker within {@link longestLatencyMs}. */
  get takesRecords(): boolean {
    return this.#isRunning && !this.#over && !this.#stopped && !this.#stands(0)
  }

  get outlivesItsEnd(): boolean {
    return this.#over && this.atDiskOf !== undefined
  }

  open(engine: number, plan: EnginePlan): void {
    if (this.#over) return
    const pipe = PipeMemory.open(plan.pipe)!
    const book = new LedgerBook(lanesOf(plan.options as ResolvedOptions), plan.memory)
    // A worker never sees a fatal line: it would live on.
    const toWorker = (at: number, value: number) => (at === word.written ? (fatalFrame(pipe) ?? value) : value)
    const drains = this.#sharedWords(plan.drains)
    const memory = {
      memory: this.#sharedWords(plan.memory).ofWorker,
      pipe: this.#sharedWords(plan.pipe, toWorker).ofWorker,
      drains: drains.ofWorker,
    }
    this.#opened = { engine, pipe, drains, taken: () => book.taken }
    const message: OpenEngine = { type: 'sluice.open', engine, plan: { ...structuredClone(plan), ...memory } }
    this.#post(message)
    this.#heartbeat.watch()
  }

  watch(): void {
    if (!this.#over) this.#heartbeat.watch()
  }

  startsSync(): boolean {
    return this.#isRunning
  }

  answersSync(withinMs: number): boolean {
    if (this.#over || this.#stuck) return false
    const { app } = this.#plan
    const waitMs = this.#isRunning ? 0 : Math.max(0, this.#startsAt - app.clock.now())
    if (waitMs > withinMs) {
      app.block(withinMs)
      return false
    }
    if (waitMs > 0) app.block(waitMs)
    if (this.#stopped || this.#stands(patienceMs)) {
      app.block(Math.min(patienceMs, withinMs - waitMs))
      this.#stuck = withinMs - waitMs >= patienceMs
      return false
    }
    if (this.#plan.start.fails) return false
    this.#start()
    return true
  }

  catchUp(): void {}

  async terminate(): Promise<void> {
    this.#over = true
    this.#heartbeat.stop()
    Atomics.store(new Int32Array(this.#state), 0, workerStates.halted)
    const { app, thread } = this.#plan
    const waitMs = thread.alive && this.atDiskOf !== undefined ? maxTerminationMs : 1
    await new Promise<void>((resolve) => app.clock.schedule(resolve, waitMs, true))
    if (thread.alive && this.#isClosed) this.#plan.closed()
    thread.kill()
  }

  terminateSync(): void {
    this.#over = true
    this.#heartbeat.stop()
    Atomics.store(new Int32Array(this.#state), 0, workerStates.halted)
    this.#plan.thread.kill()
    this.#plan.app.block(terminationMs)
  }

  /** The application's thread is blocked: the worker goes on, as far as it can. */
  #workWhileBlocked(ms: number): void {
    if (this.#over || !this.#isRunning || this.#stands(ms)) return
    this.#share()
    this.#plan.bells.call(this.#plan.thread)
    this.#share()
  }

  #sharedWords(memory: SharedArrayBuffer, toWorker?: (word: number, value: number) => number): SharedWords {
    const shared = new SharedWords(memory)
    this.#plan.bells.share(memory, shared.ofWorker)
    this.#shared.push(() => shared.copy(toWorker))
    return shared
  }

  #share(): void {
    for (const copy of this.#shared) copy()
    const { thread } = this.#plan
    if (this.#opened === undefined || this.#stopped || !thread.alive) return
    const { pipe, taken } = this.#opened
    const at = fatalFrame(pipe)
    if (at === undefined || at !== pipe.get('read')) return
    this.#stopped = true
    // As a reader does before it gives the frame away.
    pipe.set('taken', taken())
    pipe.set('busy', at + 1)
    thread.post(() => (isKilling(pipe, at) ? thread.kill() : thread.freeze()))
  }

  /** The worker's engine has answered a close. */
  get #isClosed(): boolean {
    const { drains } = this.#opened ?? {}
    if (drains === undefined) return false
    const words = new Int32Array(drains.ofWorker)
    return [...drains.changedByWorker].some(
      (answered) => answered >= firstSlot && (words[answered - 1]! & modeBits) === closeMode,
    )
  }

  /** True when the worker's thread does nothing for so long. */
  #stands(ms: number): boolean {
    const { thread, app } = this.#plan
    return !thread.alive || thread.frozen || thread.clock.now() > app.clock.now() + ms
  }

  #start(): void {
    const { thread, machine, app, received } = this.#plan
    if (this.#listener !== undefined || !thread.alive) return
    const workerPlan = { state: this.#state, heartbeat: this.#answers, position: this.#position.memory }
    hostEngines(workerPlan, {
      listen: (listener) => {
        this.#listener = listener
      },
      post: (message: WorkerMessage) => {
        if (thread.alive) app.post(() => received(message), this.#plan.latencyMs())
      },
      machine,
    })
    // Those that came before the start have had their event.
    for (let left = this.#messages.length; left > 0; left--) thread.post(() => this.#takeMessage())
  }

  #post(message: unknown): void {
    this.#messages.push(message)
    this.#plan.thread.post(() => this.#takeMessage(), this.#plan.latencyMs())
  }

  #takeMessage(): void {
    if (this.#listener === undefined || this.#stopped) return
    const message = this.#messages.shift()
    if (message !== undefined) this.#listener(message)
  }

  #fail(reason: string, { cannotStart = false } = {}): void {
    if (this.#over) return
    this.#over = true
    this.#heartbeat.stop()
    this.#plan.failed({ reason, cannotStart })
  }

  get #isRunning(): boolean {
    return Atomics.load(new Int32Array(this.#state), 0) !== workerStates.starting
  }
}

/** The slots of a control block begin with this word. The worker changes one word in each: the answer, behind the mode. */
const firstSlot = 16
const modeBits = 3
const closeMode = 2

/** Position of the first frame in a pipe that ends or stalls the worker. */
function fatalFrame(pipe: PipeMemory): number | undefined {
  const { frames } = pipe
  const written = pipe.get('written')
  for (let at = pipe.get('read'); at !== written; at = behind(pipe, at)) {
    if (frames.codeAt(at) !== padCode && [killingSign, stallingSign].some((sign) => textAt(pipe, at).includes(sign))) {
      return at
    }
  }
  return undefined
}

function isKilling(pipe: PipeMemory, at: number): boolean {
  return textAt(pipe, at).includes(killingSign)
}

function textAt({ frames }: PipeMemory, at: number): Buffer {
  return frames.bytes.subarray(at + headBytes, at + frames.sizeAt(at))
}

function behind(pipe: PipeMemory, at: number): number {
  const next = pipe.frames.behind(at)
  return next === pipe.capacity ? 0 : next
}
