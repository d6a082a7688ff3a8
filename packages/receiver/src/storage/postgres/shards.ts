import { createHash, randomUUID } from 'node:crypto'
import type { NewRecord } from '../record-storage.js'
import { StoreUnavailableError } from '../store-unavailable.js'

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

/**
 * Asks all shards. Resolves with the answers of those that can be reached.
 *
 * @throws {StoreUnavailableError} if none can
 * @throws any other error that one of them has
 */
export async function fromAll<Shard, Answer>(
  shards: readonly Shard[],
  ask: (shard: Shard, index: number) => Promise<Answer>,
): Promise<Answer[]> {
  const settled = await Promise.allSettled(shards.map(async (shard, index) => ask(shard, index)))
  const answers = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const failures = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  const [fault = answers.length === 0 ? failures[0] : undefined] = failures.filter((each) => !isAway(each))
  if (fault !== undefined) throw fault
  return answers
}

function isAway(failure: unknown): boolean {
  return failure instanceof StoreUnavailableError
}
