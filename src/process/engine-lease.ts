import { isMainThread } from 'node:worker_threads'
import { ErrorListeners } from '../diagnostics/error-listeners.js'
import { Engine } from '../engine/engine.js'
import { IdlePort } from '../engine/idle.js'
import type { AcceptanceWatch, Drainable, RecordPort, RecordSink } from '../engine/ports.js'
import { HandOff } from '../hand-off/hand-off.js'
import { deliveryThread } from '../hand-off/supervisor.js'
import type { ResolvedOptions, Sources } from '../options/options.js'
import type { Resolution } from '../options/resolve.js'
import { outsideTasks } from '../runtime/own-context.js'
import { currentCapture } from './capture.js'
import { capturePort } from './capture-port.js'
import { DeliveryPromises } from './delivery-promises.js'
import { processRegistry } from './registry.js'

interface Shared {
  readonly engine: RecordPort
  /** The `onError` of each user. */
  readonly listeners: ErrorListeners
  readonly promises: DeliveryPromises
  users: number
}

const byDestination = new Map<string, Shared>()

/** The right of one user to an engine. The engine closes when its last lease is released. */
export interface EngineLease {
  /** The port that takes records now: the engine, an idle one when Sluice is off, or the capture of a test. */
  readonly engine: RecordSink & Drainable
  readonly options: ResolvedOptions
  /** Where each of these options comes from. */
  readonly sources?: Sources
  /** True once its user has released it. Later records of this user are refused, those of other users are not. */
  readonly released: boolean
  /** Flush, and close the engine if this was its last lease. */
  release(options?: { timeoutMs?: number | undefined }): Promise<void>
}

/**
 * An engine for a configuration. All users with the same options (winston, `track`, several loggers) share one engine, whatever their
 * `level`, `onError` and `waitUntil` are. Every `onError` gets all errors of the shared engine, every `waitUntil` a promise for all records.
 */
export function leaseEngine(resolution: Resolution): EngineLease {
  return resolution.state === 'off' ? new IdleLease(resolution) : new SharedLease(resolution)
}

class IdleLease implements EngineLease {
  readonly options: ResolvedOptions
  readonly sources: Sources
  readonly released = false
  readonly #port: IdlePort

  constructor({ options, sources }: Resolution) {
    this.options = options
    this.sources = sources
    this.#port = new IdlePort(options)
  }

  get engine(): RecordSink & Drainable {
    return capturePort(this.options) ?? this.#port
  }

  async release(): Promise<void> {}
}

class SharedLease implements EngineLease {
  readonly options: ResolvedOptions
  readonly sources: Sources
  readonly #key: string
  #shared: Shared | undefined
  #released: Promise<void> | undefined

  constructor({ options, sources }: Resolution) {
    this.options = options
    this.sources = sources
    this.#key = destinationOf(options)
    // While a test captures records, no engine is started.
    if (currentCapture() === undefined) this.#shared = join(this.#key, options)
  }

  get engine(): RecordSink & Drainable {
    const captured = capturePort(this.options)
    if (captured !== undefined) return captured
    this.#shared ??= join(this.#key, this.options)
    return this.#shared.engine
  }

  get released(): boolean {
    return this.#released !== undefined
  }

  release({ timeoutMs }: { timeoutMs?: number | undefined } = {}): Promise<void> {
    this.#released ??= this.#release(timeoutMs)
    return this.#released
  }

  async #release(timeoutMs: number | undefined): Promise<void> {
    if (this.#shared === undefined) return
    await releaseUser(this.#key, this.#shared, timeoutMs)
    this.#shared.listeners.remove(this.options.onError)
    this.#shared.promises.users.remove(this.options.waitUntil)
  }
}

function join(key: string, options: ResolvedOptions): Shared {
  let shared = byDestination.get(key)
  if (shared?.engine.closed) {
    processRegistry().retire(shared.engine)
    shared = undefined
  }
  if (shared === undefined) {
    shared = outsideTasks(() => start(options))
    byDestination.set(key, shared)
  }
  shared.listeners.add(options.onError)
  shared.promises.users.add(options.waitUntil)
  shared.users++
  return shared
}

function start(options: ResolvedOptions): Shared {
  const listeners = new ErrorListeners()
  const promises = new DeliveryPromises(() => engine)
  const registry = processRegistry()
  const accepted = () => {
    registry.accepts?.()
    return promises.accepted()
  }
  const engine = startPort({ ...options, onError: listeners.notifyAll }, { accepted })
  registry.watchEnd()
  registry.add(engine)
  return { engine, listeners, promises, users: 0 }
}

/** Deliver in the worker where that is possible: not in the application's own workers, and not without the worker's file. */
function startPort(options: ResolvedOptions, { accepted }: AcceptanceWatch): RecordPort {
  const off = options.mode !== 'inline' && isMainThread && deliveryThread().available()
  return off ? new HandOff(options, { thread: deliveryThread(), accepted }) : new Engine(options, { accepted })
}

async function releaseUser(key: string, shared: Shared, timeoutMs: number | undefined): Promise<void> {
  shared.users--
  if (shared.users > 0) {
    await shared.engine.flush({ timeoutMs })
    return
  }
  if (byDestination.get(key) === shared) byDestination.delete(key)
  await shared.engine.close({
    timeoutMs: timeoutMs ?? processRegistry().timeToClose(shared.engine),
    brief: timeoutMs === undefined,
  })
  processRegistry().retire(shared.engine)
}

function destinationOf({ apiKey, ...all }: ResolvedOptions): string {
  const { onError: _, waitUntil: __, level: ___, ...options } = all
  return JSON.stringify([options, apiKey.reveal(), apiKey.file])
}
