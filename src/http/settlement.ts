import type { Batch, Outcome } from '../delivery/sender.js'
import { hide } from '../options/secret.js'
import { describeError } from './describe-error.js'
import type { KeySource } from './sender-plan.js'

/** The outcome that `read` finds in an answer; an ambiguous one where it throws: no record stays without an outcome. */
export function certainOutcome(read: () => Outcome): Outcome {
  try {
    return read()
  } catch (error) {
    return { type: 'retry', exchange: 'ambiguous', reason: describeError(error), backPressure: false }
  }
}

/** Settle one record of a batch. An owner of the batch who throws must not leave the other records without their outcomes. */
export function settleSafely(
  batch: Batch,
  { index, outcome }: { readonly index: number; readonly outcome: Outcome },
): void {
  try {
    batch.settle(index, outcome)
  } catch {
    // The owner has the outcome: nothing more can be done here.
  }
}

/** The outcome without the key: a service may repeat in its answer what it was sent. */
export function withoutKey(outcome: Outcome, usedKey: string): Outcome {
  return outcome.type === 'delivered' ? outcome : hide(outcome, [usedKey])
}

/** The outcome of a request that was made with `usedKey`: a key that was replaced meanwhile is no reason to pause. */
export function afterRenewal(outcome: Outcome, { source, usedKey }: { source: KeySource; usedKey: string }): Outcome {
  if (outcome.type !== 'pause' || outcome.status !== 401 || !source.renew(usedKey)) return outcome
  return {
    type: 'retry',
    exchange: 'answered',
    status: 401,
    reason: 'the key has been replaced (401)',
    backPressure: false,
  }
}
