import type { Outcome } from './sender.js'

/** An attempt after which the record is kept. */
export type Failure = Outcome & { type: 'retry' | 'pause' }
export type Refusal = Outcome & { type: 'pause' }
export type Rejection = Outcome & { type: 'rejected' }

/** True for a key that is missing or wrong: that says nothing about a record, and pauses every lane of the key at once. */
export function isDenial(outcome: Failure): outcome is Refusal {
  return outcome.type === 'pause' && outcome.status === unauthorized
}

/**
 * True for a failure that the record may have caused, so that another record has to confirm it: any answer but 401, or a connection that
 * broke after the request was written. A request that was never sent says nothing about the record.
 */
export function mayBeItsOwn(outcome: Failure): boolean {
  return outcome.status !== unauthorized && (outcome.type === 'pause' || outcome.exchange !== 'unsent')
}

const unauthorized = 401

/**
 * True where the service asks for less. A time-out while `others` are answered is the record's own. So is an answer, with `own`: of late
 * such answers were meant for single records.
 */
export function asksForLess(
  outcome: Failure,
  { others, own }: { readonly others: boolean; readonly own: boolean },
): boolean {
  if (outcome.type !== 'retry' || !outcome.backPressure) return false
  return !others || (outcome.exchange === 'answered' && !own)
}

/** A record of a batch that failed, and its place in the batch. */
interface Failed {
  readonly index: number
  readonly outcome: Failure
}

/**
 * The records of a batch that may have caused their failure. When the connection broke, that is the first without an answer: those behind
 * it were never looked at, or suffered with it.
 */
export function blamedOf<Each extends Failed>(failed: readonly Each[]): readonly Each[] {
  const unanswered = failed.filter(({ outcome }) => outcome.type === 'retry' && outcome.exchange === 'ambiguous')
  const first = Math.min(...unanswered.map(({ index }) => index))
  return failed.filter((each) => mayBeItsOwn(each.outcome) && (each.index === first || !unanswered.includes(each)))
}

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

/**
 * How long an answer may take, in ms, before another record is tried beside it: a quarter of the request time-out; while a drain waits, half
 * a second at most, for its deadline is near.
 */
export function patienceMs(requestTimeoutMs: number, { draining }: { readonly draining: boolean }): number {
  return Math.min(requestTimeoutMs / 4, draining ? drainingMs : Number.POSITIVE_INFINITY)
}

const drainingMs = 500
