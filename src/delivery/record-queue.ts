import type { Severity } from '../records/level.js'
import type { Outgoing } from './sender.js'
import { type Sequenced, SequenceHeap } from './sequence-heap.js'
import type { Place, Storable } from './store.js'
import type { Suspicion } from './suspicion.js'

/** Records that were accepted between two drains. A drain waits for its own generations and for none that come after. */
export interface Generation {
  readonly number: number
  outstanding: number
}

/** A record in a lane. Links and heap index belong to the queue that holds it. */
export interface Pending extends Outgoing, Sequenced {
  readonly severity: Severity
  /** Bytes that it takes of the bounds. */
  readonly bytes: number
  readonly generation: Generation
  /** Its place in the store; undefined when the store does not keep it. */
  place: Place | undefined
  attempts: number
  /** Set when it failed where others of its lane succeeded. */
  suspicion: Suspicion | undefined
  /** The slot in which it waits for its own retry; see `DelayedRecords`. */
  slot: number | undefined
  previous: Pending | undefined
  next: Pending | undefined
}

/** A new record, in no queue yet. */
export function pendingRecord(
  { body, bytes, severity, idempotencyKey, place }: Storable & { readonly place?: Place },
  { sequence, generation }: Pick<Pending, 'sequence' | 'generation'>,
): Pending {
  return {
    body,
    severity,
    bytes,
    sequence,
    idempotencyKey,
    generation,
    place,
    attempts: 0,
    suspicion: undefined,
    slot: undefined,
    heapIndex: -1,
    previous: undefined,
    next: undefined,
  }
}

const severities = 7

/** Records of one severity. Those that came in order are a linked list, those that came back are a heap. */
interface Chain {
  first: Pending | undefined
  last: Pending | undefined
  readonly returned: SequenceHeap<Pending>
  length: number
  bytes: number
}

/**
 * Records in order of acceptance, one chain for each severity. A record that is accepted, sent and delivered costs the same at
 * a million records as at ten: only the heads of seven chains are compared. Records that come back cost O(log n).
 */
export class RecordQueue {
  /** By severity. Most engines never need all of them. */
  readonly #chains: (Chain | undefined)[] = new Array(severities).fill(undefined)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Add a record that was accepted after all others in the queue. */
  push(record: Pending): void {
    const chain = this.#grow(record)
    record.previous = chain.last
    record.next = undefined
    if (chain.last === undefined) chain.first = record
    else chain.last.next = record
    chain.last = record
  }

  /** Put back a record that was taken: it keeps its place in the order of acceptance. */
  putBack(record: Pending): void {
    this.#grow(record).returned.add(record)
  }

  remove(record: Pending): void {
    const chain = this.#chains[record.severity]!
    chain.length--
    chain.bytes -= record.bytes
    this.#length--
    if (record.heapIndex >= 0) {
      chain.returned.remove(record)
      return
    }
    if (record.previous === undefined) chain.first = record.next
    else record.previous.next = record.next
    if (record.next === undefined) chain.last = record.previous
    else record.next.previous = record.previous
    record.previous = undefined
    record.next = undefined
  }

  /** Take the record that was accepted first. */
  takeOldest(): Pending | undefined {
    let oldest: Pending | undefined
    for (const chain of this.#chains) {
      if (chain !== undefined && chain.length > 0) oldest = older(oldest, oldestIn(chain))
    }
    if (oldest !== undefined) this.remove(oldest)
    return oldest
  }

  /** Take the oldest of the most severe records. */
  takeMostSevere(): Pending | undefined {
    const chain = this.#chains.findLast((each) => each !== undefined && each.length > 0)
    const record = chain === undefined ? undefined : oldestIn(chain)
    if (record !== undefined) this.remove(record)
    return record
  }

  /** Take the record that was accepted last. The cost grows with the number of records that came back. */
  takeNewest(): Pending | undefined {
    let newest: Pending | undefined
    for (const chain of this.#chains) {
      newest = newer(newest, chain?.last)
      for (const record of chain?.returned.items ?? []) newest = newer(newest, record)
    }
    if (newest !== undefined) this.remove(newest)
    return newest
  }

  takeAll(): Pending[] {
    const records = this.leastSevere(this.#length)
    for (const record of records) this.remove(record)
    return records
  }

  /** The oldest record of one severity. It stays in the queue. */
  oldestOf(severity: Severity): Pending | undefined {
    const chain = this.#chains[severity]
    return chain && oldestIn(chain)
  }

  /** At most `most` records, the least severe first. They stay in the queue. */
  leastSevere(most: number): Pending[] {
    const records: Pending[] = []
    for (const chain of this.#chains) {
      for (const record of chain?.returned.items ?? []) records.push(record)
      for (let record = chain?.first; record !== undefined; record = record.next) records.push(record)
    }
    return records.slice(0, Math.max(0, most))
  }

  bytesOf(severity: Severity): number {
    return this.#chains[severity]?.bytes ?? 0
  }

  lengthOf(severity: Severity): number {
    return this.#chains[severity]?.length ?? 0
  }

  #grow(record: Pending): Chain {
    let chain = this.#chains[record.severity]
    if (chain === undefined) {
      chain = { first: undefined, last: undefined, returned: new SequenceHeap(), length: 0, bytes: 0 }
      this.#chains[record.severity] = chain
    }
    chain.length++
    chain.bytes += record.bytes
    this.#length++
    return chain
  }
}

function oldestIn({ first, returned }: Chain): Pending | undefined {
  return older(first, returned.first)
}

function newer(one: Pending | undefined, other: Pending | undefined): Pending | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one.sequence > other.sequence ? one : other
}

function older(one: Pending | undefined, other: Pending | undefined): Pending | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one.sequence < other.sequence ? one : other
}
