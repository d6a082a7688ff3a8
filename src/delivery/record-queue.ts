import type { Severity } from '../records/level.js'
import type { Outgoing } from './sender.js'
import { type Sequenced, SequenceHeap } from './sequence-heap.js'
import type { Place, Storable } from './store.js'
import type { Suspicion } from './suspicion.js'

/** A record in memory, as an object or as bytes in an arena. */
export interface HeldRecord extends Storable {
  /** Order of acceptance. */
  readonly sequence: number
  /** Number of the drains before its acceptance: a drain waits for its own generations and for none that come after. */
  readonly generation: number
  /** The bytes that it takes of the bound of memory: its body, and a key of its own. */
  readonly heldBytes: number
  /** Its place in the store; undefined when the store does not keep it. */
  place: Place | undefined
}

/** A record that failed, waits, tests the service, comes from the store or has a key of its own. Its heap index belongs to the queue that holds it. */
export interface Pending extends Outgoing, Sequenced, HeldRecord {
  attempts: number
  /** Set when it failed where others of its lane succeeded. */
  suspicion: Suspicion | undefined
  /** The slot in which it waits for its own retry; see `DelayedRecords`. */
  slot: number | undefined
}

/** A record as an object, in no queue yet. */
export function pendingRecord(
  { body, bytes, severity, idempotencyKey, place }: Storable & { readonly place?: Place | undefined },
  {
    sequence,
    generation,
    attempts = 0,
    heldBytes = bytes,
  }: Pick<Pending, 'sequence' | 'generation'> & { readonly attempts?: number; readonly heldBytes?: number },
): Pending {
  return {
    body,
    severity,
    bytes,
    heldBytes,
    sequence,
    idempotencyKey,
    generation,
    place,
    attempts,
    suspicion: undefined,
    slot: undefined,
    heapIndex: -1,
  }
}

const severities = 7

/** Records of one severity. */
interface Chain {
  readonly heap: SequenceHeap<Pending>
  bytes: number
}

/** Records in order of acceptance, a heap for each severity: each operation costs O(log n). */
export class RecordQueue {
  /** By severity. Most engines never need all of them. */
  readonly #chains: (Chain | undefined)[] = new Array(severities).fill(undefined)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Add a record. It keeps its place in the order of acceptance. */
  putBack(record: Pending): void {
    let chain = this.#chains[record.severity]
    if (chain === undefined) {
      chain = { heap: new SequenceHeap(), bytes: 0 }
      this.#chains[record.severity] = chain
    }
    chain.bytes += record.heldBytes
    this.#length++
    chain.heap.add(record)
  }

  remove(record: Pending): void {
    const chain = this.#chains[record.severity]!
    chain.bytes -= record.heldBytes
    this.#length--
    chain.heap.remove(record)
  }

  /** The record that was accepted first. It stays in the queue. */
  get oldest(): Pending | undefined {
    if (this.#length === 0) return undefined
    let oldest: Pending | undefined
    for (const chain of this.#chains) {
      const first = chain?.heap.first
      if (first !== undefined && (oldest === undefined || first.sequence < oldest.sequence)) oldest = first
    }
    return oldest
  }

  /** The record that was accepted last. It stays in the queue. The cost grows with the number of records. */
  get newest(): Pending | undefined {
    let newest: Pending | undefined
    for (const chain of this.#chains) {
      for (const record of chain?.heap.items ?? []) {
        if (newest === undefined || record.sequence > newest.sequence) newest = record
      }
    }
    return newest
  }

  /** Take the record that was accepted first. */
  takeOldest(): Pending | undefined {
    return this.#taken(this.oldest)
  }

  /** Take the record that was accepted last. */
  takeNewest(): Pending | undefined {
    return this.#taken(this.newest)
  }

  takeAll(): Pending[] {
    const records = this.leastSevere(this.#length)
    for (const record of records) this.remove(record)
    return records
  }

  /** The oldest record of one severity. It stays in the queue. */
  oldestOf(severity: Severity): Pending | undefined {
    return this.#chains[severity]?.heap.first
  }

  /** At most `most` records, the least severe first. They stay in the queue. */
  leastSevere(most: number): Pending[] {
    const records: Pending[] = []
    for (const chain of this.#chains) for (const record of chain?.heap.items ?? []) records.push(record)
    return records.slice(0, Math.max(0, most))
  }

  bytesOf(severity: Severity): number {
    return this.#chains[severity]?.bytes ?? 0
  }

  lengthOf(severity: Severity): number {
    return this.#chains[severity]?.heap.items.length ?? 0
  }

  #taken(record: Pending | undefined): Pending | undefined {
    if (record !== undefined) this.remove(record)
    return record
  }
}
