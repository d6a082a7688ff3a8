import { constants } from 'node:os'
import { isMainThread } from 'node:worker_threads'
import { runtimeIdentity } from '../options/identity.js'
import { runtimes } from '../records/wire.js'
import { setImmediate, systemClock, type Timer } from '../runtime/clock.js'
import { hostGlobal, hostProcess } from '../runtime/host.js'
import { outsideTasks } from '../runtime/own-context.js'
import { movesAgain } from './rounds.js'

/** The parts of `process` that this file uses. */
export type ProcessHost = Pick<
  NodeJS.Process,
  'pid' | 'kill' | 'nextTick' | 'on' | 'off' | 'prependListener' | 'listeners' | 'listenerCount' | 'rawListeners'
>

/** The signals that end a process which does not listen. SIGUSR1 is not among them: it starts the debugger of Node.js. */
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const

/** A process that is alive this long after the signal was raised again does not die of it, such as PID 1 of a container. */
const survivalMs = 100
/** Each listener that comes and goes is an event of `process`: an application that logs again and again keeps ours. */
const lookMs = 1000
/** The wait between two looks doubles up to this: a process with a target of pino always needs them, and is not woken for that. */
const mostLookMs = 8000
const maxTurns = 4
const shortTurnMs = 1

/** The work of a signal. No function may throw or reject. */
export interface SignalWatchPlan {
  /** Deliver what is pending while the application goes on. `dies`: {@link end} follows, and needs some of the time. */
  readonly drain: (dies: boolean) => Promise<unknown>
  /** The signal is raised when this returns. `dies`: it ends the process for certain, so nothing comes after. */
  readonly end: (dies: boolean) => void
  /** The process lives on although the signal should have ended it for certain. */
  readonly survived: (signal: NodeJS.Signals) => void
  /** True while a signal would end the process with records. */
  readonly needed: () => boolean
  /** @default the process */
  readonly host?: ProcessHost
}

/**
 * Drains before a signal ends the process, and then raises the same signal again without its own listener, so that the exit status is
 * what it would have been. It does nothing in an application that has a listener for the signal.
 *
 *     off ── start ──▶ watching ── signal, no other listener ──▶ draining
 *      ▲                │    ▲                                      │ drained: end; or a second signal
 *      └── not needed ──┘    └───── still alive ◀── signal raised ──┘
 *
 *     every mode ── leave ──▶ left
 *
 * The process may end before it hears a signal that it has raised on itself, and while it drains. Then it dies of the signal at its exit.
 *
 * While it is off, a signal ends the process even in a loop that never returns to the event loop, in which no listener can run.
 */
export class SignalWatch {
  readonly #plan: SignalWatchPlan
  readonly #host: ProcessHost
  readonly #listeners = new Map<NodeJS.Signals, () => void>()
  #mode: 'off' | 'watching' | 'draining' | 'ending' | 'left' = 'off'
  /** The signal that is being drained. */
  #drained: NodeJS.Signals | undefined
  /** A signal that the process has raised on itself and not heard yet. */
  #raised: NodeJS.Signals | undefined
  #hearsKill = false
  #timer: Timer | undefined
  readonly #moves = movesAgain()

  constructor(plan: SignalWatchPlan) {
    this.#plan = plan
    this.#host = plan.host ?? hostProcess
  }

  start(): void {
    // Most probably a request of the application logs its first line now.
    if (this.#mode === 'off') outsideTasks(() => this.#start())
  }

  #start(): void {
    this.#mode = 'watching'
    for (const signal of signals) this.#listeners.set(signal, () => this.#received(signal))
    for (const signal of signals) this.#host.prependListener(signal, this.#listeners.get(signal)!)
    this.#host.on('newListener', this.#keepFirst)
    this.#lookLater()
    if (!this.#hearsKill) this.#hearKill()
  }

  /**
   * Node hears a signal in the next turn of the event loop, and a process that ends itself has none: nothing else tells that a signal is
   * on its way. The function stays, as others may have wrapped it meanwhile.
   */
  #hearKill(): void {
    this.#hearsKill = true
    const { kill } = this.#host
    Reflect.set(this.#host, 'kill', (...call: Parameters<NodeJS.Process['kill']>) => {
      const result = Reflect.apply(kill, this.#host, call)
      const [pid, signal] = call
      const isOwn = pid === 0 || Math.abs(pid) === this.#host.pid
      const raised = signals.find((name) => name === (signal ?? 'SIGTERM') || constants.signals[name] === signal)
      if (isOwn && raised !== undefined && this.#listeners.has(raised) && !this.#isHandled(raised))
        this.#raised ??= raised
      return result
    })
  }

  /** The process exits, and all is delivered. `before` a signal ends it, do this. */
  exit(before: () => void): void {
    const signal = this.#drained ?? this.#raised
    if (signal === undefined || this.#isHandled(signal)) return
    before()
    this.#stop()
    this.#kill(signal)
  }

  /** Leave the signals to the application from now on. A signal that nothing else has heard ends the process all the same. */
  leave(): void {
    const signal = this.#drained ?? this.#raised
    this.#stop()
    this.#mode = 'left'
    if (signal !== undefined) this.#raise(signal)
  }

  /**
   * Stop watching where that is not needed. A signal that comes while callbacks run is heard in the next turn of the event loop, and would be
   * lost with the listener. So this waits for a turn in which hardly any ran; a process that is busy goes on watching.
   */
  async rest(): Promise<void> {
    for (let turns = 0; turns < maxTurns && this.#mode === 'watching' && !this.#plan.needed(); turns++) {
      const beganAt = systemClock.now()
      await new Promise<void>((resolve) => setImmediate(resolve))
      const isShort = turns > 0 && systemClock.now() - beganAt < shortTurnMs
      if (isShort && this.#mode === 'watching' && !this.#plan.needed()) this.#stop()
    }
  }

  #lookLater(waitMs = lookMs): void {
    const look = async () => {
      await this.rest()
      if (this.#mode === 'watching') this.#lookLater(Math.min(2 * waitMs, mostLookMs))
    }
    this.#timer = systemClock.schedule(() => void look(), waitMs)
  }

  #stop(): void {
    if (this.#mode === 'off' || this.#mode === 'left') return
    this.#mode = 'off'
    this.#drained = undefined
    this.#raised = undefined
    this.#timer?.cancel()
    this.#host.off('newListener', this.#keepFirst)
    for (const [signal, listener] of this.#listeners) this.#off(signal, listener)
    this.#listeners.clear()
  }

  /** Node stops to hear a signal with the last listener that it can see. tsx hides one that ends the process by an exit. */
  #off(signal: NodeJS.Signals, listener: () => void): void {
    const host = this.#host
    host.off(signal, listener)
    if (host.listenerCount(signal) > 0) return
    for (const hidden of host.rawListeners(signal) as (() => void)[]) {
      host.off(signal, hidden)
      host.on(signal, hidden)
    }
  }

  #received(signal: NodeJS.Signals): void {
    this.#raised = undefined
    if (this.#mode === 'draining') {
      this.#raise(signal)
      return
    }
    if (this.#mode !== 'watching' || this.#isHandled(signal)) return
    this.#mode = 'draining'
    this.#drained = signal
    void this.#plan.drain(this.#kills(signal)).finally(() => {
      if (this.#mode !== 'draining') return
      // Without our listener a second signal acts at once, also while `end` holds this thread.
      this.#stop()
      this.#mode = 'ending'
      const dies = this.#kills(signal)
      this.#plan.end(dies)
      this.#raise(signal, { ended: dies })
    })
  }

  #raise(signal: NodeJS.Signals, { ended = false } = {}): void {
    this.#stop()
    this.#kill(signal)
    systemClock.schedule(() => {
      if (ended) this.#plan.survived(signal)
      this.start()
    }, survivalMs)
  }

  #kill(signal: NodeJS.Signals): void {
    // Windows cannot raise a SIGHUP, and each signal that it can raise ends a process in the same way.
    this.#host.kill(this.#host.pid, hostProcess.platform === 'win32' ? 'SIGTERM' : signal)
  }

  /**
   * A listener that was added with `once` and is called before this one is gone when listeners are counted. Stay the first, whenever
   * others are added.
   */
  readonly #keepFirst = (event: string | symbol, added: unknown): void => {
    const listener = this.#listeners.get(event as NodeJS.Signals)
    if (listener === undefined || !this.#moves(added)) return
    const host = this.#host
    host.nextTick(() => {
      if (
        this.#listeners.get(event as NodeJS.Signals) !== listener ||
        host.listeners(event as NodeJS.Signals)[0] === listener
      )
        return
      host.off('newListener', this.#keepFirst)
      host.off(event, listener)
      host.prependListener(event as NodeJS.Signals, listener)
      host.on('newListener', this.#keepFirst)
    })
  }

  /**
   * True when nothing but our listener keeps the process alive. PID 1 survives, and so may a process with listeners of signal-exit, of Deno's
   * own, or of an addon that writes a heap dump at SIGUSR2.
   */
  #kills(signal: NodeJS.Signals): boolean {
    const mayBeHandled = signal === 'SIGUSR2' || runtimeIdentity().runtime === runtimes.deno
    return (
      this.#host.pid !== 1 &&
      !mayBeHandled &&
      this.#host.rawListeners(signal).length === (this.#listeners.has(signal) ? 1 : 0)
    )
  }

  /** True when the application listens itself. The package signal-exit does not count: it waits for this listener to go. */
  #isHandled(signal: NodeJS.Signals): boolean {
    return this.#host.listenerCount(signal) - 1 - signalExitListeners() > 0
  }
}

/** Listeners of signal-exit on each signal. Its versions 3 and 4 keep a count where all their copies can see it. */
function signalExitListeners(): number {
  const version4 = hostGlobal[Symbol.for('signal-exit emitter')]
  const version3 = (hostProcess as unknown as Record<string, unknown>).__signal_exit_emitter__
  return countOf(version4) + (version3 === version4 ? 0 : countOf(version3))
}

function countOf(emitter: unknown): number {
  const count = typeof emitter === 'object' && emitter !== null ? (emitter as { count?: unknown }).count : 0
  return typeof count === 'number' ? count : 0
}

/**
 * Calls `end` before an uncaught exception or an unhandled rejection ends the process where no `exit` event follows: on Deno. Does
 * nothing when a listener of the application lets the process live on.
 */
export function onFatalError(end: () => void): void {
  if (!isMainThread || runtimeIdentity().runtime !== runtimes.deno) return
  // Listeners of these events run before the monitor, and any of them may prevent the end.
  let heard: Event | undefined
  const hear = (event: Event) => {
    heard = event
  }
  const target = hostGlobal as unknown as EventTarget
  for (const type of ['error', 'unhandledrejection']) target.addEventListener(type, hear)
  hostProcess.on('uncaughtExceptionMonitor', () => {
    const prevented = heard?.defaultPrevented === true
    heard = undefined
    const caught =
      hostProcess.listenerCount('uncaughtException') > 0 || hostProcess.hasUncaughtExceptionCaptureCallback()
    if (!prevented && !caught) end()
  })
}
