import type { DrainMode } from '../control/control-block.js'
import type { Clock } from '../runtime/clock.js'

/** Tells the whole milliseconds that are left of a time which begins now. */
export function timeLeft(clock: Clock, timeoutMs: number): () => number {
  const deadline = clock.now() + timeoutMs
  return () => Math.max(0, Math.round(deadline - clock.now()))
}

/** At the end of the process a thread has this time to answer, where no other is left: with it lines reach the spool. */
export const endGraceMs = 50
const graceMs = 10
/** Records of a park must count as spooled, even on a busy machine. */
const longestParkGraceMs = 400
const shortestParkGraceMs = 30

/** Time that the answer of a drain has after the deadline: within a quarter of the whole, or 50 ms. */
export function drainGraceMs(mode: DrainMode, timeoutMs: number): number {
  if (mode !== 'park') return graceMs
  return Math.min(longestParkGraceMs, Math.max(shortestParkGraceMs, timeoutMs * 0.2))
}

/** Time that the answer of a close has after the deadline, where this thread waits for it at the end of the process. */
export function endGraceOf(timeoutMs: number): number {
  return Math.min(longestEndGraceMs, Math.max(endGraceMs, timeoutMs / 4))
}

const longestEndGraceMs = 500
