import { isMainThread } from 'node:worker_threads'
import { setImmediate } from '../runtime/clock.js'
import { hostProcess } from '../runtime/host.js'
import { readEngine } from './late-lease.js'

/**
 * Reads the engine in the next turn, in a process that has a destination: the first `track` is most probably on the application's hot path.
 * Keeps no process alive.
 */
export function readAhead(): void {
  if (isMainThread && hostProcess.env.SLUICE_URL) setImmediate(read).unref()
}

function read(): void {
  try {
    readEngine()
  } catch {
    // The first logger, or `track`, says why.
  }
}
