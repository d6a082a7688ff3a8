import { isMainThread } from 'node:worker_threads'
import { emptyLedger, type LaneReport, type Ledger } from '../delivery/ledger.js'
import { ledgerLine, printLine } from '../diagnostics/stderr.js'
import type { EndStep } from '../engine/ports.js'
import { announcedThread } from '../hand-off/delivery-thread.js'
import { endGraceMs } from '../hand-off/drain-times.js'
import { runtimeIdentity } from '../options/identity.js'
import { loneOption } from '../options/resolve.js'
import { runtimes } from '../records/wire.js'
import { systemClock } from '../runtime/clock.js'
import { hostProcess } from '../runtime/host.js'
import { processNow } from '../runtime/shared-state.js'
import { currentCapture, setCapture } from './capture.js'
import { tellEndIsWatched } from './main-thread.js'
import type { ProcessEngines } from './process-engines.js'
import type { RegisteredEngine } from './registered-engine.js'
import { sendable, undelivered } from './remote-engines.js'
import { listenLast } from './rounds.js'
import { SignalNeed } from './signal-need.js'
import { onFatalError, type ProcessHost, SignalWatch } from './signals.js'
import { undeliveredLine } from './undelivered-line.js'

/** An application that logs in its own `beforeExit` listener would never end. After this number of drains the rest is delivered at the exit. */
const maxDrains = 3
/** Several engines take turns: each holds the thread for this time. */
const turnMs = 5
/** A service that takes nothing for this time does not delay the listeners of `exit` any longer. */
const patienceMs = 250

/** A worker that has not started within this time may have failed, which only the event loop hears. */
const startPatienceMs = 3000

/** Elsewhere a thread that is held may hold others. */
const holdsExit = runtimeIdentity().runtime === runtimes.node

/** Never written: a wait on it is a pause of this thread. */
const pause = new Int32Array(new SharedArrayBuffer(4))

const stalledDisk = 'the disk of the spool does not answer, and the process cannot end before it does: ended by SIGKILL'

export interface EndingSetting {
  /** Emits the events of the end. @default the process */
  readonly host?: ProcessHost
  /** Writes one line for people. @default to stderr */
  readonly print?: (text: string) => void
}

let installed = false

/** Deliver before the process ends. Only the first call in a thread has an effect. */
export function installEnding(engines: ProcessEngines): void {
  if (installed) return
  installed = true
  tellEndIsWatched()
  new Ending(engines).install()
}

/**
 * Delivers at the end of the process: at its exit, before a natural end (`beforeExit`) what needs the event loop, and before a signal that nothing else listens to.
 * Reports in one line the records that could not be delivered. Nothing here keeps the process alive but an unfinished drain.
 *
 *     beforeExit ─▶ flush what has time left ─▶ … ─▶ exit, first ─▶ pino ends its streams ─▶ exit, last ─▶ the thread delivers
 *     SIGTERM and others ─▶ drain the process ─▶ deliver what came meanwhile, as at an exit ─▶ the same signal again
 */
export class Ending {
  readonly #engines: ProcessEngines
  readonly #host: ProcessHost
  readonly #print: (text: string) => void
  readonly #signals: SignalWatch
  #drains = 0
  /** The ledger of the process when its end began. */
  #before = emptyLedger
  #toldBefore = 0
  /** On the clock that all threads share. */
  #signalAt = 0

  constructor(engines: ProcessEngines, { host = hostProcess, print = printLine }: EndingSetting = {}) {
    this.#engines = engines
    this.#host = host
    this.#print = print
    const need = new SignalNeed(engines)
    this.#signals = new SignalWatch({
      // A half is left for what comes during the drain.
      drain: (dies) => {
        this.#signalAt = processNow()
        this.#before = this.#engines.stats()
        return this.#engines.park(dies ? 0.5 : 1)
      },
      end: (dies) => (dies ? this.#endBySignal() : this.#reportDrain()),
      survived: (signal) =>
        this.#print(`the process lives on after ${signal}, and Sluice has ended: later records are lost`),
      needed: () => need.exists,
      host,
    })
  }

  install(): void {
    if (holdsExit) this.#host.prependListener('beforeExit', this.#beforeOthers)
    // The application's own listeners may log, and that is delivered, too.
    listenLast(this.#host, 'beforeExit', this.#beforeExit)
    // pino added its listener with its first target, and ends its streams in it: this one comes before.
    this.#host.prependListener('exit', this.#begin)
    listenLast(this.#host, 'exit', this.#deliver)
    // pino adds such a listener with each target, before that takes any line.
    this.#host.on('newListener', (event) => event === 'exit' && this.#signals.start())
    onFatalError(() => {
      this.#begin()
      this.#engines.endThreadStreams()
      this.#deliver()
    })
    this.#engines.changeSignals = (change) => this.#signals[change]()
    // Only the main thread receives signals.
    if (!isMainThread || !loneOption('handleSignals', process.env)) this.#signals.leave()
    // Workers of pino that have started before.
    else if (this.#host.listeners('exit').some(({ name }) => name === 'onExit')) this.#signals.start()
  }

  /** A listener of the application may log. The hand-over to another thread would be work, and the event would come once more. */
  readonly #beforeOthers = (): void => {
    for (const engine of this.#open()) engine.ending?.()
  }

  /**
   * Records of other threads wait for the exit, which holds this thread: with each drain here Node emits the event once more, to the
   * application's listeners, too. Records that have had their time are not drained again.
   */
  readonly #beforeExit = (): void => {
    this.#engines.held.take()
    const { budget, remote } = this.#engines
    const startMs = (engine: RegisteredEngine) => Math.min(startPatienceMs, budget.remaining(engine))
    const waiting = this.#waiting().filter((engine) => !(holdsExit && engine.deliversElsewhere?.(startMs(engine))))
    const parks = !holdsExit && remote.pending
    if ((waiting.length === 0 && !parks) || this.#drains === maxDrains) return
    this.#drains++
    if (parks) void remote.park()
    const flushed = waiting.map(async (engine) => {
      const time = { timeoutMs: budget.grant(engine), brief: true }
      await engine.flush(time)
      budget.spend(engine)
    })
    void Promise.all(flushed).then(() => {
      if (this.#drains === maxDrains) for (const engine of this.#open()) engine.ending?.()
    })
  }

  /** The process dies of a signal: deliver what came during the drain, while nothing more can come. */
  #endBySignal(): void {
    this.#startTime(this.#signalAt)
    if (!this.#engines.takeFromStreams(this.#latest))
      this.#print('a worker of pino has not taken its last lines: they are lost')
    this.#noteLedger({ tellsAll: true })
    this.#end({ streams: true })
  }

  /** After the drain of a process that may survive its signal. */
  #reportDrain(): void {
    const ledger = this.#engines.stats()
    this.#tellUndelivered(undelivered(ledger), ledger.lanes)
    for (const each of this.#engines.debugLedgers()) this.#print(ledgerLine(each))
  }

  /** pino ends its streams now, one after another, and each holds this thread. Delivery in other threads begins before that. */
  readonly #begin = (): void => {
    const { budget, remote, held } = this.#engines
    held.take()
    this.#startTime()
    this.#noteLedger({ tellsAll: this.#comesLast })
    remote.beginParking()
    const delivering = this.#waiting().filter((engine) => engine.beforeEnd(budget.remaining(engine)))
    for (const engine of delivering) budget.grant(engine)
    this.#waitForProgress(delivering)
  }

  /** The time of the end runs from now on, or since that moment. A thread that ends is not the end of the process. */
  #startTime(since?: number): void {
    if (isMainThread) this.#engines.budget.begin(this.#engines.shutdownTimeoutMs, since)
  }

  /** `tellsAll`: this thread tells what all threads lose from now on. */
  #noteLedger({ tellsAll }: { readonly tellsAll: boolean }): void {
    if (isMainThread && tellsAll) this.#engines.end.tellHere()
    // After that: a thread that drops records before it tells them itself.
    this.#before = this.#engines.stats()
    this.#toldBefore = this.#engines.toldByOthers
  }

  /**
   * A listener of the application that ends the process skips the listeners after it. The service takes what it can before, as long as it
   * goes on taking.
   */
  #waitForProgress(engines: readonly RegisteredEngine[]): void {
    const now = () => systemClock.now()
    const deadline = now() + Math.max(0, ...engines.map((engine) => this.#engines.budget.remaining(engine)))
    let left = sendable(engines)
    let patientUntil = now() + patienceMs
    while (left > 0 && now() < Math.min(deadline, patientUntil)) {
      Atomics.wait(pause, 0, 0, turnMs)
      const before = left
      left = sendable(engines)
      if (left < before) patientUntil = now() + patienceMs
    }
  }

  // pino has ended its streams by now, but for those that it leaves to the application.
  readonly #deliver = (code?: number): void => {
    this.#end({ streams: this.#comesLast })
    this.#endDespiteStalledDisk()
    this.#signals.exit(() => this.#callLater(code))
  }

  /** The signal comes before Node calls the listeners that were added in this turn of the event loop: pino's, in which it hands over its lines, may be one. */
  #callLater(code: number | undefined): void {
    const all = this.#host.rawListeners('exit')
    for (const listener of all.slice(all.indexOf(this.#deliver) + 1)) Reflect.apply(listener, this.#host, [code])
  }

  get #comesLast(): boolean {
    return this.#host.listeners('exit').at(-1) === this.#deliver
  }

  /** The process ends now: hold this thread until all is delivered or the time is over. `streams`: pino ends none any more. */
  #end(which: { readonly streams: boolean }): void {
    const { budget, held } = this.#engines
    held.take()
    // Engines whose close() is under way are among them: its end will not come.
    const engines = [...this.#engines.local]
    const tellsAll = this.#engines.end.isToldHere
    const droppedBefore = dropped(tellsAll ? [this.#before] : engines.map((engine) => engine.stats()))
    const latest = this.#latest
    const threads = this.#engines.endThreads(which)
    const ends = engines.map((engine) => {
      const most = Math.max(0, latest - endGraceMs - systemClock.now())
      return engine.endSync({ timeoutMs: Math.min(budget.remaining(engine), most), brief: true })
    })
    let steps: EndStep[] = [...ends, ...threads.steps]
    while (steps.length > 0 && systemClock.now() < latest) {
      const waitMs = steps.length === 1 ? latest - systemClock.now() : turnMs
      steps = steps.filter((step) => !step(waitMs))
    }
    // Other threads tell what they drop themselves.
    const own = (tellsAll ? [this.#engines] : engines).map((each) => each.stats())
    const all = tellsAll ? own : [...own, ...threads.engines.map((each) => each.stats())]
    // A thread that did not hear of it in time has told its losses itself.
    const told = tellsAll ? this.#engines.toldByOthers - this.#toldBefore : 0
    const left = all.reduce((sum, ledger) => sum + undelivered(ledger), dropped(own) - droppedBefore - told)
    this.#tellUndelivered(
      left,
      all.flatMap(({ lanes }) => lanes),
    )
    this.#reportLateRecords()
    const silent = [...threads.silent].filter((engine) => engine.options.debug && engine.showsLast())
    for (const engine of [...engines.filter(({ options }) => options.debug), ...silent])
      this.#print(ledgerLine(engine.stats()))
  }

  /**
   * Node waits for every thread before a process exits, and a thread that waits for a disk waits for ever: no exit code beats no exit. A
   * signal ends such a thread, too.
   */
  #endDespiteStalledDisk(): void {
    const latest = this.#latest
    while (announcedThread()?.keepsProcess || this.#engines.remote.known.some((engine) => engine.isAtDisk())) {
      if (systemClock.now() >= latest) {
        this.#print(stalledDisk)
        this.#host.kill(this.#host.pid, 'SIGKILL')
      }
      Atomics.wait(pause, 0, 0, turnMs)
    }
  }

  /** The moment on the clock at which the end is over, whatever hangs. */
  get #latest(): number {
    return systemClock.now() + this.#engines.budget.untilLatest(this.#engines.shutdownTimeoutMs)
  }

  /** An `exit` listener that is added during the last turn of the event loop comes after ours. Its records are lost, with a line that says so. */
  #reportLateRecords(): void {
    if (currentCapture() !== undefined) return
    let reported = false
    setCapture({
      record: () => {
        if (!reported) this.#print('records that are logged at the exit after their delivery are lost')
        reported = true
      },
    })
  }

  #tellUndelivered(count: number, lanes: readonly LaneReport[]): void {
    if (count > 0) this.#print(undeliveredLine({ count, lanes, ambiguousBefore: this.#before.ambiguousRetries }))
  }

  /** Engines of this thread. Engines in pino's workers close when their stream ends. */
  #open(): RegisteredEngine[] {
    return [...this.#engines.local].filter(({ closed }) => !closed)
  }

  /** Engines with records that have not had their time. */
  #waiting(): RegisteredEngine[] {
    return this.#open().filter(
      (engine) => undelivered(engine.stats()) > 0 && this.#engines.budget.remaining(engine) > 0,
    )
  }
}

function dropped(ledgers: readonly Pick<Ledger, 'dropped'>[]): number {
  return ledgers.reduce((sum, ledger) => sum + ledger.dropped.shutdown, 0)
}
