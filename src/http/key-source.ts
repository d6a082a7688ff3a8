import type { Outcome } from '../delivery/sender.js'
import { hide } from '../options/secret.js'

/** Where the key for `x-api-key` comes from. */
export interface KeySource {
  reveal(): string
  /** Whether there is another key now than the one that was refused. */
  renew(refused: string): boolean
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
