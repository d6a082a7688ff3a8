import { sharedMemory } from './shared-memory.js'

/** Whoever comes late to the end of the process has so much of its time all the same: the first had nothing to do with his records. */
const leastShare = 0.25

let memory: BigInt64Array | undefined

/** When the end began, in milliseconds since 1970; 0 before. Not the monotonic clock: each thread has an origin of its own. */
function beganAt(): BigInt64Array {
  memory ??= new BigInt64Array(sharedMemory('sluice:end', 8))
  return memory
}

/** Make the moment known to the workers that this thread will start. */
export function shareEnd(): void {
  beganAt()
}

/** The end of the process begins: everything that waits for the service has its time from now on. */
export function endBegins(): void {
  Atomics.compareExchange(beganAt(), 0, 0n, BigInt(Date.now()))
}

/**
 * What is left of the time that the end of the process may take, in milliseconds: all of it while that has not begun, and never less than
 * a share of it.
 */
export function leftOfEnd(shutdownTimeoutMs: number, least = leastShare): number {
  const began = Number(Atomics.load(beganAt(), 0))
  if (began === 0) return shutdownTimeoutMs
  const gone = Math.max(0, Date.now() - began)
  return Math.max(shutdownTimeoutMs - gone, shutdownTimeoutMs * least)
}
