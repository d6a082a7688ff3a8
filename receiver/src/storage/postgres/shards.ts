import { createHash, randomUUID } from 'node:crypto'
import type { NewRecord } from '../record-storage.js'

/** The place of a database among those of one store. */
export interface ShardPlace {
  readonly index: number
  readonly count: number
}

/**
 * The index of the shard for a record: the one with the largest hash of its name and the record's bucket and key (rendezvous hashing, Thaler and
 * Ravishankar 1996). Another shard takes records from all others, and moves none between those.
 *
 * @param names names of the shards, which stay the same across restarts
 */
export function shardOf({ bucket, kind, idempotencyKey }: NewRecord, names: readonly string[]): number {
  const key = `${kind} ${bucket} ${idempotencyKey ?? randomUUID()}`
  let best = 0
  let largest = ''
  for (const [index, name] of names.entries()) {
    const hash = createHash('sha256').update(`${name} ${key}`).digest('hex')
    if (hash > largest) [best, largest] = [index, hash]
  }
  return best
}

/** Asks all shards. Resolves with the answers of those that could. @throws the error of one of them if none could */
export async function fromAll<Shard, Answer>(
  shards: readonly Shard[],
  ask: (shard: Shard, index: number) => Promise<Answer>,
): Promise<Answer[]> {
  const settled = await Promise.allSettled(shards.map(async (shard, index) => ask(shard, index)))
  const answers = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const [first] = settled
  if (answers.length === 0 && first?.status === 'rejected') throw first.reason
  return answers
}
