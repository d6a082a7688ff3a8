import type { Outcome, Outgoing, OutgoingBatch, Sender } from '../../src/delivery/sender.js'
import { TextBatch, type TextBatchPlan } from '../../src/delivery/text-batch.js'

/** Send these records as one batch: resolves when the sender is done with it. */
export function sendRecords(sender: Pick<Sender, 'send'>, plan: Omit<TextBatchPlan, 'done'>): Promise<void> {
  return new Promise((done) => sender.send(new TextBatch({ ...plan, done })))
}

/** Send these bodies as one batch: the outcome of each, when the sender has let go of the batch. */
export async function sendBatch(
  sender: Sender,
  bodies: readonly string[],
  about: Partial<TextBatchPlan> = {},
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  const records = bodies.map((body) => ({ body, bytes: Buffer.byteLength(body), idempotencyKey: `key-${body}` }))
  const settle = (from: number, outcome: Outcome, count = 1) => {
    for (let index = from; index < from + count; index++) {
      if (outcomes[index] !== undefined) throw new Error(`record ${index} has two outcomes`)
      outcomes[index] = outcome
    }
  }
  await sendRecords(sender, { kind: 'logs', bucket: 'b', records, settle, ...about })
  if (Object.keys(outcomes).length !== bodies.length) throw new Error('a record has no outcome')
  return outcomes
}

/** The records of a batch, as text. */
export function recordsOf(batch: OutgoingBatch): readonly Outgoing[] {
  return Array.from({ length: batch.length }, (_, index) => batch.textOf(index))
}

/** The `send` of a sender whose work is a promise: the batch is done when it resolves. */
export function sendingBy(work: (batch: OutgoingBatch) => Promise<void>): Sender['send'] {
  return (batch) => void work(batch).then(() => batch.done())
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
