import type { Outcome, OutgoingBatch } from '../delivery/sender.js'
import { hide } from '../options/secret.js'
import { describeError } from './describe-error.js'
import type { KeySource } from './sender-plan.js'

/** A request that ended without an answer. */
export interface Break {
  /** True when writing had begun. */
  readonly sent: boolean
  readonly reason: string
  readonly timedOut: boolean
}

/** Its owner has given up a batch before a request of it was written. */
export const givenUpReason = 'it was given up before it was sent'

export function brokenOutcome({ sent, reason, timedOut }: Break): Outcome {
  if (sent) return { type: 'retry', exchange: 'ambiguous', reason, backPressure: timedOut }
  const broken = { type: 'retry', exchange: 'unsent', reason, backPressure: timedOut } as const
  // A sender in another thread passes on no more than the text of the error.
  return reason.includes('ECONNREFUSED') ? { ...broken, refused: true } : broken
}

/**
 * The outcome that `read` finds in an answer, without the key, which a service may repeat. Where a 401 refuses a key that has been replaced
 * meanwhile, the record is retried and nothing pauses. Where `read` throws, the outcome is ambiguous: every record gets an outcome.
 */
export function safeOutcome(
  read: () => Outcome,
  { usedKey, source }: { readonly usedKey: string; readonly source?: KeySource },
): Outcome {
  try {
    const outcome = read()
    if (outcome.type === 'delivered') return outcome
    const refused = outcome.type === 'pause' && outcome.status === 401
    return refused && source?.renew(usedKey) === true ? keyReplaced : hide(outcome, [usedKey])
  } catch (error) {
    return brokenOutcome({ sent: true, reason: describeError(error), timedOut: false })
  }
}

const keyReplaced: Outcome = {
  type: 'retry',
  exchange: 'answered',
  status: 401,
  reason: 'the key has been replaced (401)',
  backPressure: false,
}

/** Settle the record at `index`, or `count` records from there on. An owner of the batch that throws must not leave the other records without their outcomes. */
export function settleSafely(
  batch: OutgoingBatch,
  { index, outcome, count = 1 }: { readonly index: number; readonly outcome: Outcome; readonly count?: number },
): void {
  try {
    batch.settle(index, outcome, count)
  } catch {
    // The owner has the outcome: nothing more can be done here.
  }
}

/** Every record has its outcome. An owner of the batch that throws must not harm its connection. */
export function endSafely(batch: OutgoingBatch): void {
  try {
    batch.done()
  } catch {
    // The owner knows: nothing more can be done here.
  }
}
