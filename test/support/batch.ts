import { batchRecords } from '../../src/delivery/record-batch.js'
import type { Batch, Outcome, Sender } from '../../src/delivery/sender.js'

/** Send these bodies as one batch: the outcome of each, when the sender has let go of the batch. */
export async function sendBatch(
  sender: Sender,
  bodies: readonly string[],
  about: Partial<Batch> = {},
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  const records = bodies.map((body) => ({ body, bytes: Buffer.byteLength(body), idempotencyKey: `key-${body}` }))
  const settle = (from: number, outcome: Outcome, count = 1) => {
    for (let index = from; index < from + count; index++) {
      if (outcomes[index] !== undefined) throw new Error(`record ${index} has two outcomes`)
      outcomes[index] = outcome
    }
  }
  await sender.send({ kind: 'logs', bucket: 'b', probe: false, ...batchRecords(records), settle, ...about })
  if (Object.keys(outcomes).length !== bodies.length) throw new Error('a record has no outcome')
  return outcomes
}

/** An outcome in a word: what the tests are about. */
export function word(outcome: Outcome): string {
  if (outcome.type !== 'retry') return outcome.type
  return outcome.exchange === 'answered' ? 'retry' : outcome.exchange
}

/** How often each came. */
export function tally(outcomes: readonly Outcome[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) counts[word(outcome)] = (counts[word(outcome)] ?? 0) + 1
  return counts
}
