import { isMainThread } from 'node:worker_threads'
import { ErrorListeners } from '../diagnostics/error-listeners.js'
import { Engine } from '../engine/engine.js'
import type { AcceptanceWatch, RecordPort } from '../engine/ports.js'
import { HandOff } from '../hand-off/hand-off.js'
import { deliveryThread } from '../hand-off/supervisor.js'
import type { ResolvedOptions } from '../options/options.js'
import { outsideTasks } from '../runtime/own-context.js'
import { DeliveryPromises } from './delivery-promises.js'
import { processRegistry } from './registry.js'

/** An engine and its users. */
export interface SharedEngine {
  readonly port: RecordPort
  /** The `onError` of each user. */
  readonly listeners: ErrorListeners
  readonly promises: DeliveryPromises
  readonly destination: string
  users: number
}

const byDestination = new Map<string, SharedEngine>()

/**
 * Use the engine for these options. All users with the same options (winston, `track`, several loggers) share one, whatever their `level`,
 * `onError` and `waitUntil` are. Every `onError` gets all errors of the engine, every `waitUntil` a promise for all records.
 */
export function joinEngine(options: ResolvedOptions): SharedEngine {
  const destination = destinationOf(options)
  let shared = byDestination.get(destination)
  if (shared?.port.closed) {
    processRegistry().retire(shared.port)
    shared = undefined
  }
  if (shared === undefined) {
    shared = outsideTasks(() => start(options, destination))
    byDestination.set(destination, shared)
  }
  shared.listeners.add(options.onError)
  shared.promises.users.add(options.waitUntil)
  shared.users++
  return shared
}

/** Flush, and close the engine if this was its last user. */
export async function leaveEngine(
  shared: SharedEngine,
  { onError, waitUntil }: ResolvedOptions,
  timeoutMs: number | undefined,
): Promise<void> {
  const { port, destination, listeners, promises } = shared
  shared.users--
  if (shared.users > 0) await port.flush({ timeoutMs })
  else {
    if (byDestination.get(destination) === shared) byDestination.delete(destination)
    const closeMs = timeoutMs ?? processRegistry().timeToClose(port)
    await port.close({ timeoutMs: closeMs, brief: timeoutMs === undefined })
    processRegistry().retire(port)
  }
  listeners.remove(onError)
  promises.users.remove(waitUntil)
}

function start(options: ResolvedOptions, destination: string): SharedEngine {
  const listeners = new ErrorListeners()
  const promises = new DeliveryPromises(() => port)
  const registry = processRegistry()
  const accepted = () => {
    registry.accepts?.()
    return promises.accepted()
  }
  const port = startPort({ ...options, onError: listeners.notifyAll }, { accepted })
  registry.watchEnd()
  registry.add(port)
  return { port, listeners, promises, destination, users: 0 }
}

/** Deliver in the worker where that is possible: not in the application's own workers, and not without the worker's file. */
function startPort(options: ResolvedOptions, { accepted }: AcceptanceWatch): RecordPort {
  const off = options.mode !== 'inline' && isMainThread && deliveryThread().available()
  return off ? new HandOff(options, { thread: deliveryThread(), accepted }) : new Engine(options, { accepted })
}

function destinationOf({ apiKey, ...all }: ResolvedOptions): string {
  const { onError: _, waitUntil: __, level: ___, ...options } = all
  return JSON.stringify([options, apiKey.reveal(), apiKey.file])
}
