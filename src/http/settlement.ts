import type { Batch, Outcome } from '../delivery/sender.js'
import { describeError } from './describe-error.js'

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
