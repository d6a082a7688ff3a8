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
