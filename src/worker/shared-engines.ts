import type { ResolvedOptions } from '../options/options.js'
import { Engine } from './engine.js'
import { leaveSignals, watchLifetime } from './lifetime.js'
import { processEngines } from './process-engines.js'

interface Shared {
  readonly engine: Engine
  users: number
}

const byDestination = new Map<string, Shared>()

/** A user's hold on an engine. The engine closes when the last of its users lets go. */
export interface EngineLease {
  readonly engine: Engine
  /** Whether its user has let go: what comes from him now is refused, though others may go on. */
  readonly released: boolean
  /** Flush, and close the engine if nobody else uses it. */
  release(options?: { timeoutMs?: number | undefined }): Promise<void>
}

/**
 * An engine for these options. Whoever asks with the same options (winston, `track`, several loggers) shares one.
 * `onError` tells engines apart, for each has one listener.
 */
export function leaseEngine(options: ResolvedOptions): EngineLease {
  const key = destinationOf(options)
  let shared = byDestination.get(key)
  if (shared?.engine.closed) {
    processEngines().retire(shared.engine)
    shared = undefined
  }
  if (shared === undefined) {
    shared = { engine: new Engine(options), users: 0 }
    byDestination.set(key, shared)
    processEngines().add(shared.engine)
    watchLifetime()
    if (!options.handleSignals) leaveSignals()
  }
  const held = shared
  held.users++
  let released: Promise<void> | undefined
  return {
    engine: held.engine,
    get released() {
      return released !== undefined
    },
    release({ timeoutMs } = {}) {
      released ??= letGo(key, held, timeoutMs)
      return released
    },
  }
}

async function letGo(key: string, shared: Shared, timeoutMs: number | undefined): Promise<void> {
  shared.users--
  if (shared.users > 0) {
    await shared.engine.flush({ timeoutMs })
    return
  }
  if (byDestination.get(key) === shared) byDestination.delete(key)
  await shared.engine.close({ timeoutMs })
  processEngines().retire(shared.engine)
}

const listeners = new WeakMap<object, number>()
let listenerCount = 0

function destinationOf({ onError, apiKey, ...options }: ResolvedOptions): string {
  if (onError !== undefined && !listeners.has(onError)) listeners.set(onError, ++listenerCount)
  return JSON.stringify([options, apiKey.reveal(), onError === undefined ? 0 : listeners.get(onError)])
}
