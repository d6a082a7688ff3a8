import { type BackoffBounds, fullJitter } from './backoff.js'
import type { Outcome } from './sender.js'

/** An attempt after which the record is kept. */
export type Failure = Extract<Outcome, { type: 'retry' | 'pause' }>
export type Refusal = Extract<Outcome, { type: 'pause' }>
export type Rejection = Extract<Outcome, { type: 'rejected' }>
/** An attempt after which the record needs no other one. */
export type Settled = Exclude<Outcome, Failure>

/** A disk that does not answer, or takes nothing, is asked again after this time. */
export const diskPatienceMs = 1000

/** The last error of a record that was sent, where there is no time to wait for its answer any longer. */
export const noAnswer = 'the service did not answer in time'

export function isFailure(outcome: Outcome): outcome is Failure {
  return outcome.type === 'retry' || outcome.type === 'pause'
}

/** True for a key that is missing or wrong. That says nothing about a record, and pauses every lane of the key at once. */
export function isDenial(outcome: Failure): outcome is Refusal {
  return outcome.type === 'pause' && outcome.status === unauthorized
}

const unauthorized = 401

/**
 * True for a failure that the record may have caused: any answer but 401, or a connection that broke after the request was written.
 * Another record has to confirm it. A request that was never sent says nothing about its record.
 */
export function mayBeItsOwn(outcome: Failure): boolean {
  return outcome.status !== unauthorized && (outcome.type === 'pause' || outcome.exchange !== 'unsent')
}

/** True for a request that was written and got no answer. */
export function isUnanswered(outcome: Failure): boolean {
  return outcome.type === 'retry' && outcome.exchange === 'ambiguous'
}

/** True for a failure after which the request may have been carried out: it got no answer, or that of a gateway which got none itself. */
export function isAmbiguous(outcome: Failure): boolean {
  return isUnanswered(outcome) || (outcome.type === 'retry' && isOfGateway(outcome.status))
}

/** The service may have worked: 502 and 504, and 520 to 527 of Cloudflare. */
function isOfGateway(status = 0): boolean {
  return status === 502 || status === 504 || (status >= 520 && status <= 527)
}

/**
 * The records of a batch that may have caused their failure. When the connection broke, that is the first record without an answer. The
 * service never looked at those behind it, or they failed because of it.
 */
export function blamedOf<Each extends { readonly index: number; readonly outcome: Failure }>(
  failed: readonly Each[],
): readonly Each[] {
  const unanswered = failed.filter(({ outcome }) => isUnanswered(outcome))
  const first = Math.min(...unanswered.map(({ index }) => index))
  return failed.filter((each) => mayBeItsOwn(each.outcome) && (each.index === first || !unanswered.includes(each)))
}

/**
 * True where the service asks for less. A time-out while `others` are answered is the record's own. So is an answer when `own` is true:
 * such answers were meant for single records of late.
 */
export function asksForLess(
  outcome: Failure,
  { others, own }: { readonly others: boolean; readonly own: boolean },
): boolean {
  if (outcome.type !== 'retry' || !outcome.backPressure) return false
  return !others || (outcome.exchange === 'answered' && !own)
}

/**
 * How many records must be refused with the same status before their lane pauses. A lane that delivered within the last minute needs
 * three: two bad records may well stand in a row.
 */
export function refusalsToPause(sinceSuccessMs: number): 2 | 3 {
  return deliversLately(sinceSuccessMs) ? 3 : 2
}

/** True while the last success of a lane is so recent that the service takes its records. */
export function deliversLately(sinceSuccessMs: number): boolean {
  return sinceSuccessMs < latelyMs
}

const latelyMs = 60_000

/** The longest wait that is honoured, in milliseconds: five minutes. A service that asks for more is tried again after it. */
export const longestWaitMs = 300_000

/** A wait that a service asks for, as it is honoured. */
export interface Wait {
  /** On the clock; nothing is sent before this moment. */
  readonly notBefore: number
  /** The service asked for more than is honoured: the last drain tries once more before. */
  readonly excessive: boolean
}

export const noWait: Wait = { notBefore: Number.NEGATIVE_INFINITY, excessive: false }

/** The wait that an outcome asks for, from 0 to {@link longestWaitMs} after `now`; none where it names no positive number. */
export function waitOf(outcome: Outcome, now: number): Wait {
  const askedMs = outcome.type === 'retry' ? outcome.retryAfterMs : undefined
  if (askedMs === undefined || !(askedMs > 0)) return noWait
  return { notBefore: now + Math.min(askedMs, longestWaitMs), excessive: askedMs > longestWaitMs }
}

export function longestWait(waits: readonly Wait[]): Wait {
  return waits.reduce((longest, wait) => (wait.notBefore > longest.notBefore ? wait : longest), noWait)
}

/** The reason of a failure in words, and the wait that the service asked for where that is longer than is honoured. */
export function failureReason(outcome: Outcome & { readonly reason: string }): string {
  const askedMs = outcome.type === 'retry' ? outcome.retryAfterMs : undefined
  if (askedMs === undefined || !(askedMs > longestWaitMs)) return outcome.reason
  return `${outcome.reason} and asks to wait ${Math.ceil(askedMs / 1000)} s; tried again after ${longestWaitMs / 1000} s`
}

/**
 * The backoff before the next attempt, in ms. It grows no further than that of the second retry while a drain waits: its deadline is
 * seconds away.
 */
export function backoffMs(
  attempt: number,
  plan: { readonly retry: BackoffBounds; readonly random: () => number; readonly draining: boolean },
): number {
  return fullJitter(plan.draining ? Math.min(attempt, maxDrainAttempt) : attempt, plan.retry, plan.random)
}

const maxDrainAttempt = 2

/**
 * How long an answer may take, in ms, before another record is tried beside it: a quarter of the request time-out, and half a second at
 * most while a drain waits.
 */
export function patienceMs(requestTimeoutMs: number, { draining }: { readonly draining: boolean }): number {
  return Math.min(requestTimeoutMs / 4, draining ? drainingMs : Number.POSITIVE_INFINITY)
}

const drainingMs = 500

/** The number of suspects that may be in flight at a time: a quarter of the connections. */
export function suspectsBeside(connections: number): number {
  return Math.ceil(connections / 4)
}
