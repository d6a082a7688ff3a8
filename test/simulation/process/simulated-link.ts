import type { Writable } from 'node:stream'
import type { Machine } from '../../../src/engine/machine.js'
import { type Standstill, WorkerPosition } from '../../../src/engine/worker-position.js'
import { lineStream } from '../../../src/hand-off/delivery-worker.js'
import { engineFrame } from '../../../src/hand-off/frames.js'
import { Heartbeat } from '../../../src/hand-off/heartbeat.js'
import {
  type EnginePlan,
  heartbeatQuestion,
  type OpenEngine,
  type WorkerMessage,
  workerStates,
} from '../../../src/hand-off/protocol.js'
import type { Link, WorkerLinkPlan } from '../../../src/hand-off/worker-link.js'
import type { SimulatedThread } from '../simulated-thread.js'

/** The way in which a worker starts. */
export interface WorkerStart {
  /** Time until it takes lines. */
  readonly startMs: number
  /** It ends with an error before it takes any line. */
  readonly fails: boolean
}

export interface SimulatedLinkPlan extends WorkerLinkPlan {
  /** The thread of the application. */
  readonly app: SimulatedThread
  /** The thread of the worker. */
  readonly thread: SimulatedThread
  /** The machine, as the worker sees it. */
  readonly machine: Machine
  readonly start: WorkerStart
  readonly random: () => number
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

/** Of a line or message on its way to the worker. */
export const longestLatencyMs = 0.5
/** As in the real link. */
const patienceMs = 1000
const maxTerminationMs = 1000
const terminationMs = 20

/**
 * The delivery worker in a simulated thread, and the way to it: the lines and the messages, each in their order, with a latency. The
 * worker's code is the real one, and so is the heartbeat.
 */
export class SimulatedLink implements Link {
  readonly #plan: SimulatedLinkPlan
  readonly #position = new WorkerPosition()
  readonly #state = new SharedArrayBuffer(4)
  readonly #heartbeat: Heartbeat
  readonly #answers = new SharedArrayBuffer(4)
  readonly #startsAt: number
  /** Written and not yet taken by the worker. */
  readonly #pieces: Buffer[] = []
  readonly #messages: unknown[] = []
  #listener: (message: unknown) => void = () => {}
  #stream: Writable | undefined
  #engine = 0
  #over = false
  #stuck = false
  readonly #mirrors: (() => void)[] = []
  /** The worker has come to a line at which it ends or stalls. */
  #stopped = false
  /** The worker's engine says in it that it has been closed. */
  #closedFlag: Int32Array | undefined

  constructor(plan: SimulatedLinkPlan) {
    const { app, thread, start } = plan
    this.#plan = plan
    this.#startsAt = app.clock.now() + start.startMs
    this.#heartbeat = new Heartbeat({
      clock: app.clock,
      answers: this.#answers,
      ask: () => this.#post(heartbeatQuestion),
      started: () => this.#isReading,
      busy: plan.busy,
      stopped: () => this.#fail('it does not answer any more'),
    })
    thread.whenKilled(() => app.post(() => this.#died('the worker thread exited'), this.#latencyMs()))
    thread.post(() => {
      if (start.fails) {
        this.#died('Error: it cannot start')
        thread.kill()
      } else this.#start()
    }, start.startMs)
  }

  get standstill(): Standstill | undefined {
    const { thread, waitsForDisk } = this.#plan
    if (thread.alive && waitsForDisk()) return { engine: this.#engine, at: 'disk' }
    return this.#position.standstill
  }

  /** True while a line that is written reaches the worker within {@link longestLatencyMs}. */
  get takesLines(): boolean {
    return this.#stream !== undefined && !this.#over && !this.#stopped && !this.#stands(0)
  }

  get outlivesItsEnd(): boolean {
    return this.#over && this.standstill?.at === 'disk'
  }

  open(engine: number, plan: EnginePlan): void {
    if (this.#over) return
    this.#closedFlag = new Int32Array(plan.closed)
    const message: OpenEngine = { type: 'sluice.open', engine, plan: { ...plan, memory: this.#mirrored(plan.memory) } }
    this.#post(structuredClone(message))
    this.#heartbeat.watch()
  }

  write(engine: number, bytes: Buffer): void {
    if (this.#over) return
    if (engine !== this.#engine) {
      this.#engine = engine
      this.#send(Buffer.from(engineFrame(engine)))
    }
    this.#send(bytes)
    this.#heartbeat.watch()
  }

  startsSync(): boolean {
    return this.#isReading
  }

  answersSync(withinMs: number): boolean {
    if (this.#over || this.#stuck) return false
    const { app } = this.#plan
    const waitMs = this.#isReading ? 0 : Math.max(0, this.#startsAt - app.clock.now())
    if (waitMs > withinMs) {
      app.block(withinMs)
      return false
    }
    if (this.#stands(patienceMs)) {
      app.block(waitMs)
      return this.#waitInVain(withinMs - waitMs)
    }
    if (this.#plan.start.fails) return false
    if (waitMs > 0) app.block(waitMs)
    this.#start()
    return true
  }

  #waitInVain(withinMs: number): false {
    this.#plan.app.block(Math.min(patienceMs, withinMs))
    this.#stuck = withinMs >= patienceMs
    return false
  }

  flushSync(withinMs: number): boolean {
    if (this.#over || this.#stuck) return false
    if (this.#stands(patienceMs)) return this.#waitInVain(withinMs)
    for (let message = this.#messages.shift(); message !== undefined; message = this.#messages.shift()) {
      this.#listener(message)
    }
    while (this.#pieces.length > 0 && !this.#stopped && !this.#stands(0)) this.#takePiece()
    for (const mirror of this.#mirrors) mirror()
    return this.#pieces.length === 0
  }

  catchUp(): void {}

  async terminate(): Promise<void> {
    this.#over = true
    this.#heartbeat.stop()
    Atomics.store(new Int32Array(this.#state), 0, workerStates.halted)
    const { app, thread } = this.#plan
    const waitMs = thread.alive && this.standstill?.at === 'disk' ? maxTerminationMs : 1
    await new Promise<void>((resolve) => app.clock.schedule(resolve, waitMs, true))
    if (thread.alive && this.#closedFlag !== undefined && Atomics.load(this.#closedFlag, 0) !== 0) this.#plan.closed()
    thread.kill()
  }

  terminateSync(): void {
    this.#over = true
    this.#heartbeat.stop()
    Atomics.store(new Int32Array(this.#state), 0, workerStates.halted)
    this.#plan.thread.kill()
    this.#plan.app.block(terminationMs)
  }

  /**
   * Memory for the worker whose content appears in `memory`, until the thread is killed: microtasks of a killed thread run here, and would
   * still write.
   */
  #mirrored(memory: SharedArrayBuffer): SharedArrayBuffer {
    const ofWorker = new SharedArrayBuffer(memory.byteLength)
    const [from, to] = [new Uint8Array(ofWorker), new Uint8Array(memory)]
    from.set(to)
    const mirror = () => {
      if (this.#plan.thread.alive) to.set(from)
    }
    this.#mirrors.push(mirror)
    this.#plan.thread.whenKilled(this.#plan.afterEach(mirror))
    return ofWorker
  }

  /** True when the worker's thread does nothing for so long. */
  #stands(ms: number): boolean {
    const { thread, app } = this.#plan
    return !thread.alive || thread.frozen || thread.clock.now() > app.clock.now() + ms
  }

  #start(): void {
    const { thread, machine, app, received } = this.#plan
    if (this.#stream !== undefined || !thread.alive) return
    const workerPlan = { state: this.#state, heartbeat: this.#answers, position: this.#position.memory }
    this.#stream = lineStream(workerPlan, {
      listen: (listener) => {
        this.#listener = listener
      },
      post: (message: WorkerMessage) => {
        if (!thread.alive) return
        app.post(() => received(message), this.#latencyMs())
      },
      machine,
    })
    // Those who came before the start have had their event.
    for (let left = this.#messages.length; left > 0; left--) thread.post(() => this.#takeMessage())
    for (let left = this.#pieces.length; left > 0; left--) thread.post(() => this.#takePiece())
  }

  #post(message: unknown): void {
    this.#messages.push(message)
    this.#plan.thread.post(() => this.#takeMessage(), this.#latencyMs())
  }

  #send(bytes: Buffer): void {
    this.#pieces.push(bytes)
    this.#plan.thread.post(() => this.#takePiece(), this.#latencyMs())
  }

  #takeMessage(): void {
    if (this.#stream === undefined || this.#stopped) return
    const message = this.#messages.shift()
    if (message !== undefined) this.#listener(message)
  }

  #takePiece(): void {
    const bytes = this.#stream === undefined || this.#stopped ? undefined : this.#pieces.shift()
    if (bytes === undefined) return
    const fatal = fatalLine(bytes)
    if (fatal === undefined) {
      this.#stream!.write(bytes)
      return
    }
    const { thread } = this.#plan
    this.#stopped = true
    if (fatal.at > 0) this.#stream!.write(bytes.subarray(0, fatal.at))
    thread.post(() => {
      this.#position.takesLinesOf(this.#engine)
      if (fatal.kills) thread.kill()
      else thread.freeze()
    })
  }

  #died(reason: string): void {
    this.#fail(reason, { cannotStart: !this.#isReading && !reason.endsWith('the worker thread exited') })
  }

  #fail(reason: string, { cannotStart = false } = {}): void {
    if (this.#over) return
    this.#over = true
    this.#heartbeat.stop()
    this.#plan.failed({ reason, cannotStart })
  }

  get #isReading(): boolean {
    return Atomics.load(new Int32Array(this.#state), 0) !== workerStates.starting
  }

  #latencyMs(): number {
    return this.#plan.random() * longestLatencyMs
  }
}

/** The first line that ends or stalls the worker. */
function fatalLine(bytes: Buffer): { readonly at: number; readonly kills: boolean } | undefined {
  const found = [killingSign, stallingSign].flatMap((sign) => {
    const place = bytes.indexOf(sign)
    return place === -1 ? [] : [{ at: bytes.lastIndexOf('\n', place) + 1, kills: sign === killingSign }]
  })
  return found.sort((a, b) => a.at - b.at)[0]
}
