import { hostname } from 'node:os'
import type { Ledger } from '../../../src/delivery/ledger.js'
import { Engine } from '../../../src/engine/engine.js'
import type { EngineDelivery } from '../../../src/engine/engine-delivery.js'
import type { Machine } from '../../../src/engine/machine.js'
import type { EndStep, RecordPort } from '../../../src/engine/ports.js'
import { WorkerPosition } from '../../../src/engine/worker-position.js'
import { HandOff } from '../../../src/hand-off/hand-off.js'
import { Supervisor } from '../../../src/hand-off/supervisor.js'
import type { WorkerLinkPlan } from '../../../src/hand-off/worker-link.js'
import type { SluiceOptions } from '../../../src/options/options.js'
import { resolve } from '../../../src/options/resolve.js'
import { type Severity, severityOfNumber } from '../../../src/records/level.js'
import { sharedStyle } from '../../../src/records/line-style.js'
import type { Contents } from '../contents.js'
import type { SimulatedThread } from '../simulated-thread.js'
import type { World } from '../world.js'
import { Promised } from './promised.js'
import { SimulatedBells } from './simulated-bells.js'
import { longestLatencyMs, SimulatedLink, type WorkerStart } from './simulated-link.js'

/** `worker`: a hand-off and the delivery worker. `inline`: the application's thread delivers. `target`: pino's worker delivers. */
export type ProcessMode = 'worker' | 'inline' | 'target'

/** A record that the application logs or tracks. */
export interface SimulatedRecord {
  readonly id: number
  readonly by: 'pino' | 'winston' | 'track'
  /** A number of pino, 10 to 60. */
  readonly level: number
  /** Its message; a track call has none. */
  readonly message: string
}

/** A record that the engine has accepted. */
export interface AcceptedRecord {
  /** Time of the world. */
  readonly at: number
  readonly severity: Severity
}

export interface ProcessPlan {
  readonly name: string
  readonly mode: ProcessMode
  readonly options: SluiceOptions
  /** The machine as the code in a thread sees it. */
  readonly machineOf: (thread: SimulatedThread, process: SimulatedProcess) => Omit<Machine, 'bell' | 'processNow'>
  /** How the next worker starts. */
  readonly nextStart: () => WorkerStart
  /** True while this thread waits for a disk that does not answer. */
  readonly waitsForDisk: (thread: SimulatedThread) => boolean
  /** How many sockets the code of this thread has open. */
  readonly socketsOf: (thread: SimulatedThread) => number
  readonly reached: (name: string) => void
}

/** A delivery of which one can see what it has. */
export interface OpenedDelivery {
  readonly thread: SimulatedThread
  readonly delivery: EngineDelivery
  readonly contents: Contents
}

/** The end of a process, and the ledger as it was then. */
export interface EndOfProcess {
  readonly how: 'close' | 'exit' | 'signal' | 'kill'
  readonly at: number
  readonly ledger: Ledger
}

const endStepMs = 5
/** Few enough that the ring is often full. */
const pipeBytes = 8192
const pinoStyle = {}
const base = { pid: process.pid, hostname: hostname() }

/** An application with Sluice in it: its threads, its engine, and the records that the engine has accepted. */
export class SimulatedProcess {
  readonly name: string
  readonly mode: ProcessMode
  readonly app: SimulatedThread
  readonly port: RecordPort
  /** The accepted records by their ids, in the order of their acceptance. */
  readonly accepted = new Map<number, AcceptedRecord>()
  readonly promises: Promised[] = []
  /** The deliveries of its engines, one after another, where they show what they have. */
  readonly opened: OpenedDelivery[] = []
  end: EndOfProcess | undefined
  /** The moment at which its end has begun. */
  endingAt: number | undefined
  /** Sluice is being closed, and the application goes on. */
  closing = false
  /** A signal has come, and the application goes on until what it had logged is delivered. */
  draining = false
  readonly #world: World
  readonly #plan: ProcessPlan
  readonly #threads: SimulatedThread[] = []
  readonly #latencyMs: () => number
  readonly #bells: SimulatedBells
  /** To the worker that was started last. */
  #link: SimulatedLink | undefined

  constructor(world: World, plan: ProcessPlan) {
    this.#world = world
    this.#plan = plan
    this.name = plan.name
    this.mode = plan.mode
    this.app = this.thread('app')
    const { options } = resolve(plan.options, { environment: {}, needs: 'values', folder: '/' })
    const print = (text: string) => world.note(`${plan.name} prints: ${text.slice(0, 60)}`)
    const latency = world.random(`${plan.name}/latency`)
    this.#latencyMs = () => latency() * longestLatencyMs
    this.#bells = new SimulatedBells({ latencyMs: this.#latencyMs })
    const machine = this.#machineOf(this.app)
    if (plan.mode === 'worker') {
      const thread = new Supervisor({ clock: this.app.clock, print: () => {}, start: (link) => this.#startLink(link) })
      this.port = new HandOff(options, { thread, machine, print, pipeBytes })
    } else {
      const position = plan.mode === 'target' ? { worker: new WorkerPosition(), engine: 1 } : undefined
      this.port = new Engine(options, {
        machine,
        print,
        gathers: plan.mode === 'target',
        ...(position && { position }),
      })
    }
  }

  /** Another thread of this process. */
  thread(name: string): SimulatedThread {
    const thread = this.#world.thread(`${this.name}/${name}`)
    this.#threads.push(thread)
    return thread
  }

  get ending(): boolean {
    return this.endingAt !== undefined
  }

  get threads(): readonly SimulatedThread[] {
    return this.#threads
  }

  /** The worker that delivers now; undefined where there is none. */
  get worker(): SimulatedThread | undefined {
    return this.#threads.findLast(({ name, alive }) => alive && name.startsWith(`${this.name}/worker`))
  }

  /** True while a record that the application logs is with the engine at once, or within {@link longestLatencyMs}. */
  get handsOver(): boolean {
    if (!this.app.alive || this.app.frozen || this.app.clock.now() > this.#world.now) return false
    return this.mode !== 'worker' || this.#link?.takesRecords === true
  }

  /** Log or track. Called in the application's thread. */
  log({ id, by, level, message }: SimulatedRecord): void {
    const severity = severityOfNumber(level) as Severity
    const arrivedAt = Math.floor(this.#world.wallClock(this.app.clock.now()))
    this.accepted.set(id, { at: this.#world.now, severity })
    if (by === 'track') this.port.value(1_000_000 + id, arrivedAt)
    else if (by === 'pino') {
      const line = JSON.stringify({ level, time: arrivedAt, ...base, id, msg: message })
      this.port.line(line, { style: pinoStyle, severity, arrivedAt })
    } else {
      const name = winstonLevels[severity] ?? 'info'
      const line = JSON.stringify({ level: name, message, id })
      this.port.line(line, { style: sharedStyle({ logger: 'winston', level: name }), severity, arrivedAt })
    }
  }

  flush(timeoutMs: number): Promised {
    return this.#expect('flush', this.port.flush({ timeoutMs }), timeoutMs)
  }

  /** The application closes Sluice, and ends when that is done. */
  close(timeoutMs: number): void {
    if (this.ending) return
    this.endingAt = this.#world.now
    this.closing = true
    const closing = this.#expect('close', this.port.close({ timeoutMs }), timeoutMs)
    void closing.ledger.then((ledger) => {
      this.#ended('close', ledger)
      this.#world.schedule(() => {
        for (const thread of this.#threads) if (thread.alive) this.#reportLeft(thread)
        this.#killThreads()
      }, 0)
    })
  }

  /** SIGTERM: a drain while the application goes on, then the end as at an exit, and the process dies. */
  signal(): void {
    if (this.ending) return
    this.endingAt = this.#world.now
    this.draining = true
    const { shutdownTimeoutMs } = this.port.options
    const beganAt = this.app.clock.now()
    const timeoutMs = shutdownTimeoutMs / 2
    void this.#expect('park', this.port.park({ timeoutMs }), timeoutMs).ledger.then(() => {
      this.draining = false
      if (this.end !== undefined) return
      const leftMs = Math.max(shutdownTimeoutMs / 4, shutdownTimeoutMs - (this.app.clock.now() - beganAt))
      if (this.mode === 'target') void this.port.close({ timeoutMs: leftMs }).then(() => this.#die('signal'))
      else this.#endSync('signal', leftMs)
    })
  }

  /** process.exit(): the event loop of the application's thread turns no more. */
  exit(): void {
    if (this.ending) return
    const { shutdownTimeoutMs } = this.port.options
    if (this.mode === 'target') {
      // pino ends its stream, and waits for the worker, which closes its engine.
      this.close(shutdownTimeoutMs)
      return
    }
    this.endingAt = this.#world.now
    this.#endSync('exit', shutdownTimeoutMs)
  }

  /** Deliver while the event loop of the application's thread stands. */
  #endSync(how: 'exit' | 'signal', timeoutMs: number): void {
    const { port, app } = this
    const beganAt = app.clock.now()
    port.beforeEnd(timeoutMs)
    app.freeze()
    // As the budget of the end: all of it runs at once, and an engine that is late has a quarter.
    const leftMs = Math.max(timeoutMs / 4, timeoutMs - (app.clock.now() - beganAt))
    const step: EndStep = port.endSync({ timeoutMs: leftMs })
    const goOn = () => {
      if (this.end !== undefined) return
      if (step(0)) {
        const tookMs = app.clock.now() - beganAt
        // Inline, this thread itself may wait in a call to the disk: nothing can end that.
        const isInTime = tookMs <= timeoutMs * 1.25 + 4500 || this.#plan.waitsForDisk(app)
        if (!isInTime) this.#world.fail(`${this.name} took ${tookMs} ms to end`)
        this.#die(how)
      } else this.#world.schedule(goOn, endStepMs)
    }
    this.#world.schedule(goOn, app.clock.now() - this.#world.now)
  }

  /** SIGKILL, or the end of power. */
  kill(): void {
    if (this.end !== undefined) return
    this.endingAt = this.#world.now
    this.#die('kill')
  }

  freeze(): void {
    for (const thread of this.#threads) thread.freeze()
  }

  thaw(): void {
    for (const thread of this.#threads) thread.thaw()
    for (const promised of this.promises) promised.allow(this.#world.now)
  }

  #die(how: EndOfProcess['how']): void {
    if (this.end !== undefined) return
    this.#ended(how, this.port.stats())
    this.#killThreads()
  }

  #ended(how: EndOfProcess['how'], ledger: Ledger): void {
    this.end = { how, at: this.#world.now, ledger }
    this.#plan.reached(`process: ${how} of ${this.mode}`)
    this.#world.note(`${this.name} ends by ${how}: ${countsOf(ledger)}`)
  }

  #killThreads(): void {
    for (const thread of this.#threads) thread.kill()
  }

  /** After a close, nothing may hold the process, and no connection may be left to the service. */
  #reportLeft(thread: SimulatedThread): void {
    if (thread.holdingTimers > 0) this.#world.fail(`${thread.name} is held by a timer after close()`)
    const sockets = this.#plan.socketsOf(thread)
    if (sockets > 0) this.#world.fail(`${thread.name} has ${sockets} sockets after close()`)
  }

  #expect(name: string, ledger: Promise<Ledger>, timeoutMs: number): Promised {
    const promised = new Promised({ name: `${this.name} ${name}`, ledger, at: this.app.clock.now(), timeoutMs })
    this.promises.push(promised)
    void ledger.then(
      (result) => this.#world.note(`${this.name} ${name} resolves: ${countsOf(result)}`),
      (error: unknown) => this.#world.fail(`${this.name} ${name} rejects: ${error}`),
    )
    return promised
  }

  #machineOf(thread: SimulatedThread): Machine {
    const its = { bell: this.#bells.of(thread), processNow: thread.clock.now }
    return { ...this.#plan.machineOf(thread, this), ...its }
  }

  #startLink(plan: WorkerLinkPlan): SimulatedLink {
    const thread = this.thread(`worker ${this.#threads.length}`)
    const { nextStart, waitsForDisk } = this.#plan
    const start = nextStart()
    this.#link = new SimulatedLink({
      ...plan,
      app: this.app,
      thread,
      machine: this.#machineOf(thread),
      bells: this.#bells,
      start,
      afterEach: (task) => this.#world.afterEach(task),
      latencyMs: this.#latencyMs,
      waitsForDisk: () => waitsForDisk(thread),
      closed: () => this.#reportLeft(thread),
    })
    return this.#link
  }
}

const winstonLevels: readonly string[] = ['silly', 'debug', 'info', 'warn', 'error', 'error']

/** The figures of a ledger that are the same in each run of a seed. */
export function countsOf(ledger: Ledger): string {
  const { accepted, delivered, rejected, spooled, queued, inFlight, retries, ambiguousRetries } = ledger
  const drops = Object.entries(ledger.dropped).filter(([, count]) => count > 0)
  return JSON.stringify({
    accepted,
    delivered,
    rejected,
    spooled,
    queued,
    inFlight,
    retries,
    ambiguousRetries,
    ...Object.fromEntries(drops),
  })
}
