import { isMainThread } from 'node:worker_threads'
import { systemClock } from '../runtime/clock.js'
import { sharedMemory } from './shared-state.js'

/** Whoever comes late to the end of the process has so much of its time all the same: the first had nothing to do with his records. */
const leastShare = 0.25
/** An end that comes so soon after a flush belongs to it. */
const soonMs = 1000

let memory: BigInt64Array | undefined
let flushedInVainAt = Number.NEGATIVE_INFINITY

/**
 * When the end began, in milliseconds since 1970; 0 before. Not the monotonic clock: each thread has an origin of its own. Then 1, when
 * one thread tells for all.
 */
function sharedEnd(): BigInt64Array {
  memory ??= new BigInt64Array(sharedMemory('sluice:end', 16))
  return memory
}

/** Make the moment known to the workers that this thread will start. */
export function shareEnd(): void {
  sharedEnd()
}

/**
 * The end of the process begins: everything that waits for the service has its time from now on, a share of it where a flush in vain
 * has just had it. The end of another thread is none of the process.
 */
export function endBegins(shutdownTimeoutMs: number): void {
  if (!isMainThread) return
  const gone = shutdownTimeoutMs - leftOfEnd(shutdownTimeoutMs)
  const now = Date.now() - Math.ceil(gone)
  Atomics.compareExchange(sharedEnd(), 0, 0n, BigInt(now))
}

/** This thread, which ends last, tells what no thread of the process could deliver. */
export function tellForAll(): void {
  Atomics.store(sharedEnd(), 1, 1n)
}

/** Whether one thread tells for all. */
export function isToldForAll(): boolean {
  return Atomics.load(sharedEnd(), 1) === 1n
}

/** A flush of all that waits has had the time that the end of the process would have, and nothing at all was delivered. */
export function noteFlushInVain(at = systemClock.now()): void {
  flushedInVainAt = at
}

/**
 * What is left of the time that the end of the process may take, in milliseconds: all of it while that has not begun, and never less than
 * a share of it; that share, where a flush in vain has just had it.
 */
export function leftOfEnd(shutdownTimeoutMs: number, least = leastShare): number {
  const began = Number(Atomics.load(sharedEnd(), 0))
  if (began === 0) return hasJustFlushedInVain() ? shutdownTimeoutMs * leastShare : shutdownTimeoutMs
  const gone = Math.max(0, Date.now() - began)
  return Math.max(shutdownTimeoutMs - gone, shutdownTimeoutMs * least)
}

function hasJustFlushedInVain(): boolean {
  return systemClock.now() - flushedInVainAt < soonMs
}
