import type { Outcome } from './sender.js'

/** Longest wait that is honoured, in milliseconds: five minutes. A service that asks for more is tried again after it. */
export const longestWaitMs = 300_000

/** A wait that a service asks for, as it is honoured. */
export interface Wait {
  /** On the clock; nothing is sent before this moment. */
  readonly notBefore: number
  /** The service asked for more than is honoured: a drain that is the last one tries once more before. */
  readonly excessive: boolean
}

export const noWait: Wait = { notBefore: Number.NEGATIVE_INFINITY, excessive: false }

/** The wait that an outcome asks for, from 0 to {@link longestWaitMs} after `now`; none where it names no positive number. */
export function waitOf(outcome: Outcome, now: number): Wait {
  const askedMs = outcome.type === 'retry' ? outcome.retryAfterMs : undefined
  if (askedMs === undefined || !(askedMs > 0)) return noWait
  return { notBefore: now + Math.min(askedMs, longestWaitMs), excessive: askedMs > longestWaitMs }
}

/** The longest of several. */
export function longestWait(waits: readonly Wait[]): Wait {
  return waits.reduce((longest, wait) => (wait.notBefore > longest.notBefore ? wait : longest), noWait)
}

/** The reason of a failure, in words; with the wait that the service asked for, where that is longer than is honoured. */
export function reasonOf(outcome: Outcome & { readonly reason: string }): string {
  const askedMs = outcome.type === 'retry' ? outcome.retryAfterMs : undefined
  if (askedMs === undefined || !(askedMs > longestWaitMs)) return outcome.reason
  return `${outcome.reason} and asks to wait ${Math.ceil(askedMs / 1000)} s; tried again after ${longestWaitMs / 1000} s`
}
