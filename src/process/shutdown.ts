import { isMainThread } from 'node:worker_threads'
import { noAnswer } from '../delivery/last-drain.js'
import type { LaneReport } from '../delivery/ledger.js'
import { lastErrorText, ledgerLine, printLine } from '../diagnostics/reporter.js'
import type { EndStep } from '../engine/ports.js'
import { deliveryThread } from '../hand-off/supervisor.js'
import { loneOption } from '../options/environment.js'
import { systemClock } from '../runtime/clock.js'
import { endBegins, isToldForAll, leftOfEnd, tellForAll } from '../runtime/end-clock.js'
import { hostProcess } from '../runtime/host.js'
import { currentCapture, setCapture } from './capture.js'
import type { ProcessEngines, RegisteredEngine } from './process-engines.js'
import { onFatalError, SignalWatch } from './signals.js'

/**
 * An application that logs in its own `beforeExit` listener would go round for ever: what it logs after so many drains is delivered at the
 * exit.
 */
const maxDrains = 3

/** How long each engine may hold the thread at the end, when there are several. */
const turnMs = 5
/** A service that has taken nothing for so long is not waited for before the listeners of `exit` are called. */
const patienceMs = 250

/** All engines of the process; set once, when its end is watched. */
let registered: ProcessEngines | undefined

function all(): ProcessEngines {
  return registered!
}

/**
 * Deliver before the end of the process: before a natural end, at its exit, and before a signal that nobody else listens to. Say in
 * one line what could not be delivered. Nothing here keeps the process alive but an unfinished drain, up
 * to its deadline.
 */
export function watchLifetime(engines: ProcessEngines): void {
  if (registered !== undefined) return
  registered = engines
  const signals = new SignalWatch(drainBeforeSignal)
  listenLast('beforeExit', drainBeforeExit(signals))
  // Before pino's own listener, which was added when its first target was made.
  hostProcess.prependListener('exit', beginEnd)
  listenLast('exit', deliverAtExit)
  onFatalError(() => {
    beginEnd()
    all().endThreadStreams()
    deliverAtExit()
  })
  all().onLeaveSignals(() => signals.stop())
  // Only the main thread sees signals.
  if (isMainThread && loneOption('handleSignals', process.env)) signals.start()
}

/** Records that an engine had accepted when it was drained for the last time: what is left of them has had its time. */
const drainedAt = new WeakMap<object, number>()

function drainBeforeExit(signals: SignalWatch): () => void {
  let drains = 0
  let turned = false
  return () => {
    // A listener of the application's may have raised its signal again: without us it would have died of it, and not of idleness.
    if (signals.hasSeenSignal && !turned) {
      turned = true
      setImmediate(() => {})
    }
    const engines = openEngines()
    // The event comes again after each drain: one for what is new, none for what could not be delivered.
    const waiting = engines.filter((engine) => undelivered([engine]) > 0 && !hasHadItsTime(engine))
    const threads = all().remote.pending
    if ((waiting.length === 0 && !threads) || drains === maxDrains) return
    drains++
    if (threads) void all().remote.park()
    void Promise.all(
      waiting.map(async (engine) => {
        const { accepted } = engine.stats()
        await engine.flush({ timeoutMs: leftOfEnd(engine.options.shutdownTimeoutMs) })
        drainedAt.set(engine, accepted)
      }),
    ).then(() => {
      if (drains === maxDrains) for (const engine of openEngines()) engine.ending()
    })
  }
}

function hasHadItsTime(engine: Pick<RegisteredEngine, 'stats'>): boolean {
  return drainedAt.get(engine) === engine.stats().accepted
}

async function drainBeforeSignal(): Promise<void> {
  const engines = all()
  const { queued, inFlight, lanes } = await engines.drain('park', engines.shutdownTimeoutMs)
  tellUndelivered(queued + inFlight, lanes)
  // There is no event of the exit after a signal that ends the process.
  for (const ledger of engines.debugLedgers()) printLine(ledgerLine(ledger))
}

/** The application's own listeners may log, and that is delivered, too: this one comes after them, whenever they were added. */
function listenLast(last: 'beforeExit' | 'exit', listener: () => void): void {
  hostProcess.on(last, listener)
  hostProcess.on('newListener', (event, added) => {
    if (event !== last || added === listener) return
    hostProcess.nextTick(() => {
      hostProcess.off(last, listener)
      hostProcess.on(last, listener)
    })
  })
}

/** Records that an engine of another thread had accepted when the end of the process began. */
const begunAt = new WeakMap<object, number>()
/** Records that had been given up in the whole process by then. */
let givenUpBefore = 0

/** pino ends its streams now, one after another, and each holds this thread: whoever delivers in another one does so meanwhile. */
function beginEnd(): void {
  endBegins(all().shutdownTimeoutMs)
  givenUpBefore = all().stats().dropped.shutdown
  const comesLast = hostProcess.listeners('exit').at(-1) === deliverAtExit
  if (isMainThread && comesLast && all().knowsAtOnce) tellForAll()
  all().remote.beginParking()
  const waiting = openEngines().filter((engine) => undelivered([engine]) > 0 && !hasHadItsTime(engine))
  const delivering = waiting.filter((engine) => engine.beforeEnd())
  for (const engine of delivering) begunAt.set(engine, engine.stats().accepted)
  waitForProgress(delivering)
}

/**
 * A listener of the application's that ends the process leaves out those after it: what the service takes now is delivered before. As long
 * as it goes on taking, and while there is time.
 */
function waitForProgress(engines: readonly Pick<RegisteredEngine, 'stats' | 'options'>[]): void {
  const nobody = new Int32Array(new SharedArrayBuffer(4))
  const timeoutMs = Math.max(0, ...engines.map(({ options }) => leftOfEnd(options.shutdownTimeoutMs)))
  const deadline = systemClock.now() + timeoutMs
  let left = hopeful(engines)
  let patientUntil = systemClock.now() + patienceMs
  while (left > 0 && systemClock.now() < Math.min(deadline, patientUntil)) {
    Atomics.wait(nobody, 0, 0, turnMs)
    const before = left
    left = hopeful(engines)
    if (left < before) patientUntil = systemClock.now() + patienceMs
  }
}

/** What is left of an engine's time at the end of the process; more where something new has come since that began. */
function timeLeft(engine: Pick<RegisteredEngine, 'stats' | 'options'>): number {
  if (hasHadItsTime(engine)) return 0
  const isDelivering = begunAt.get(engine) === engine.stats().accepted
  return leftOfEnd(engine.options.shutdownTimeoutMs, isDelivering ? 0 : undefined)
}

function deliverAtExit(): void {
  // Those among them whose close() is under way have an end that nobody will see otherwise.
  const engines = [...all().local]
  const given = givenUp(engines)
  const threads = all().endThreads()
  let steps: EndStep[] = [...engines.map((engine) => engine.endSync({ timeoutMs: timeLeft(engine) })), ...threads.steps]
  while (steps.length > 0) {
    const waitMs = steps.length === 1 ? Number.POSITIVE_INFINITY : turnMs
    steps = steps.filter((step) => !step(waitMs))
  }
  if (isToldForAll()) tellLeftInProcess()
  else {
    const lanes = [...engines, ...threads.engines].flatMap((engine) => engine.stats().lanes)
    tellUndelivered(undelivered(engines) + givenUp(engines) - given + undelivered(threads.engines), lanes)
  }
  tellOfLateRecords()
  for (const engine of engines) if (engine.options.debug) printLine(ledgerLine(engine.stats()))
  endDespiteStalledDisk()
}

/** Node waits for every thread before a process ends, and a thread that waits for a disk waits for ever: better no exit code than no exit. */
function endDespiteStalledDisk(): void {
  const thread = deliveryThread()
  const nobody = new Int32Array(new SharedArrayBuffer(4))
  const deadline = systemClock.now() + leftOfEnd(all().shutdownTimeoutMs)
  while (thread.keepsProcess || all().remote.known.some((engine) => engine.isAtDisk())) {
    if (systemClock.now() >= deadline) {
      printLine('the disk of the spool does not answer, and the process cannot end before it does: ended by SIGKILL')
      hostProcess.kill(hostProcess.pid, 'SIGKILL')
    }
    Atomics.wait(nobody, 0, 0, turnMs)
  }
}

/** A listener of exit that was added in the very turn of the end comes after ours: what it logs is lost, but not in silence. */
function tellOfLateRecords(): void {
  if (currentCapture() !== undefined) return
  let told = false
  setCapture({
    record() {
      if (!told) printLine('records that are logged at the exit after their delivery are lost')
      told = true
    },
  })
}

/** All that is left, in whichever thread. */
function tellLeftInProcess(): void {
  const { queued, inFlight, dropped, lanes } = all().stats()
  tellUndelivered(queued + inFlight + dropped.shutdown - givenUpBefore, lanes)
}

function tellUndelivered(count: number, lanes: readonly LaneReport[]): void {
  if (count === 0) return
  const what = `${count} record${count === 1 ? '' : 's'} not delivered before the end of the process`
  printLine(`${what}${lastErrorText(lastErrorOf(lanes))}`)
}

/** Why records are left: what most of them met with. */
function lastErrorOf(lanes: readonly LaneReport[]): string | undefined {
  const counts = new Map<string, number>()
  for (const { queued, inFlight, dropped, lastError = inFlight > 0 ? noAnswer : undefined } of lanes) {
    if (lastError === undefined) continue
    counts.set(lastError, (counts.get(lastError) ?? 0) + queued + inFlight + dropped.shutdown)
  }
  return [...counts].sort(([, a], [, b]) => b - a).find(([, count]) => count > 0)?.[0]
}

/** Records of lanes that may send: there is no use in waiting for a wrong key. */
function hopeful(engines: readonly Pick<RegisteredEngine, 'stats'>[]): number {
  const lanes = engines.flatMap((engine) => engine.stats().lanes).filter(({ state }) => state !== 'paused')
  return lanes.reduce((sum, { queued, inFlight }) => sum + queued + inFlight, 0)
}

/** Engines of this thread; those of pino's workers look after themselves when their stream ends. */
function openEngines() {
  return [...all().local].filter(({ closed }) => !closed)
}

function givenUp(engines: readonly Pick<RegisteredEngine, 'stats'>[]): number {
  return engines.reduce((sum, engine) => sum + engine.stats().dropped.shutdown, 0)
}

function undelivered(engines: readonly Pick<RegisteredEngine, 'stats'>[]): number {
  return engines.reduce((sum, engine) => {
    const { queued, inFlight } = engine.stats()
    return sum + queued + inFlight
  }, 0)
}
