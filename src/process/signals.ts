import { isMainThread } from 'node:worker_threads'
import { runtimeIdentity } from '../options/identity.js'
import { runtimes } from '../records/wire.js'
import { systemClock } from '../runtime/clock.js'
import { hostGlobal, hostProcess } from '../runtime/host.js'

const signals = ['SIGTERM', 'SIGINT'] as const

/** How long after the re-raised signal a process counts as one that it does not end, such as PID 1 of a container. */
const survivalMs = 100

/**
 * Delivers before a signal ends the process, and then lets it end by the same signal, so that its status is what it would have
 * been. An application that has a listener of its own decides for itself: Sluice does nothing then.
 *
 * Modes: `watching` → (signal, nobody else listens) → `draining` → (drained, or a second signal) → the signal is raised again
 * without us; a process that survives it is `watching` again.
 */
export class SignalWatch {
  readonly #drain: () => Promise<void>
  readonly #listeners = new Map<NodeJS.Signals, () => void>()
  #seen = false
  #mode: 'off' | 'watching' | 'draining' = 'off'

  /** @param drain delivers what is pending, by its deadline */
  constructor(drain: () => Promise<void>) {
    this.#drain = drain
  }

  get hasSeenSignal(): boolean {
    return this.#seen
  }

  start(): void {
    if (this.#mode !== 'off') return
    this.#mode = 'watching'
    for (const signal of signals) this.#listeners.set(signal, () => this.#received(signal))
    for (const signal of signals) hostProcess.prependListener(signal, this.#listeners.get(signal)!)
    hostProcess.on('newListener', this.#keepFirst)
  }

  stop(): void {
    if (this.#mode === 'off') return
    this.#mode = 'off'
    hostProcess.off('newListener', this.#keepFirst)
    for (const [signal, listener] of this.#listeners) hostProcess.off(signal, listener)
    this.#listeners.clear()
  }

  #received(signal: NodeJS.Signals): void {
    if (this.#mode === 'draining') {
      this.#raise(signal)
      return
    }
    this.#seen = true
    if (this.#mode === 'off' || isAttended(signal)) return
    this.#mode = 'draining'
    void this.#drain().finally(() => this.#raise(signal))
  }

  #raise(signal: NodeJS.Signals): void {
    if (this.#mode !== 'draining') return
    this.stop()
    hostProcess.kill(hostProcess.pid, signal)
    systemClock.schedule(() => this.start(), survivalMs)
  }

  /**
   * A listener that is called before us and was added with `once` is gone when we count. Stay the first, however others are added.
   */
  readonly #keepFirst = (event: string | symbol): void => {
    const listener = this.#listeners.get(event as NodeJS.Signals)
    if (listener === undefined) return
    hostProcess.nextTick(() => {
      if (this.#mode === 'off' || hostProcess.listeners(event as NodeJS.Signals)[0] === listener) return
      hostProcess.off('newListener', this.#keepFirst)
      hostProcess.off(event, listener)
      hostProcess.prependListener(event as NodeJS.Signals, listener)
      hostProcess.on('newListener', this.#keepFirst)
    })
  }
}

/** Whether the application itself listens: somebody besides us, and besides the package signal-exit, which waits for us to go. */
function isAttended(signal: NodeJS.Signals): boolean {
  return hostProcess.listenerCount(signal) - 1 - signalExitListeners() > 0
}

/** Listeners of signal-exit on each signal, versions 4 and 3: it counts its own copies where other copies can see it. */
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
 * Calls `end` before an exception that nobody catches, or a rejection that nobody handles, ends the process where no `exit` follows: on
 * Deno. What an application lives on after, by a listener of either kind, is none of our business.
 */
export function onFatalError(end: () => void): void {
  if (!isMainThread || runtimeIdentity().runtime !== runtimes.deno) return
  // Listeners of these events are called before, and any of them may prevent the end.
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
