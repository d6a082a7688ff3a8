import type { Severity } from '../records/level.js'
import type { Outgoing } from './sender.js'

/** Records accepted between two drains: a drain waits for its own generations and for none that come after. */
export interface Generation {
  readonly number: number
  outstanding: number
}

/** A record in a lane. The links belong to the queue that holds it. */
export interface Pending extends Outgoing {
  readonly severity: Severity
  /** What it counts for in the bounds. */
  readonly bytes: number
  readonly generation: Generation
  /** Position in the order of acceptance. */
  readonly sequence: number
  attempts: number
  /** Where it waits for its own retry, while it does. */
  slot: number | undefined
  previous: Pending | undefined
  next: Pending | undefined
}

interface Chain {
  first: Pending | undefined
  last: Pending | undefined
  length: number
  bytes: number
}

/**
 * Records in order of acceptance, one chain for each severity. Each operation costs the same at a million records as
 * at ten: what is compared is the heads of seven chains.
 */
export class RecordQueue {
  readonly #chains: Chain[] = Array.from({ length: 7 }, () => ({
    first: undefined,
    last: undefined,
    length: 0,
    bytes: 0,
  }))
  #length = 0

  get length(): number {
    return this.#length
  }

  push(record: Pending): void {
    const chain = this.#chains[record.severity]!
    record.previous = chain.last
    record.next = undefined
    if (chain.last === undefined) chain.first = record
    else chain.last.next = record
    chain.last = record
    this.#grown(chain, record)
  }

  /** Put back what was taken, so that it leaves first. */
  putBack(record: Pending): void {
    const chain = this.#chains[record.severity]!
    record.next = chain.first
    record.previous = undefined
    if (chain.first === undefined) chain.last = record
    else chain.first.previous = record
    chain.first = record
    this.#grown(chain, record)
  }

  remove(record: Pending): void {
    const chain = this.#chains[record.severity]!
    if (record.previous === undefined) chain.first = record.next
    else record.previous.next = record.next
    if (record.next === undefined) chain.last = record.previous
    else record.next.previous = record.previous
    record.previous = undefined
    record.next = undefined
    chain.length--
    chain.bytes -= record.bytes
    this.#length--
  }

  /** The record that was accepted first. */
  takeOldest(): Pending | undefined {
    let oldest: Pending | undefined
    for (const { first } of this.#chains) {
      if (first !== undefined && (oldest === undefined || first.sequence < oldest.sequence)) oldest = first
    }
    if (oldest !== undefined) this.remove(oldest)
    return oldest
  }

  /** The oldest of the most severe records. */
  takeMostSevere(): Pending | undefined {
    for (let severity = this.#chains.length - 1; severity >= 0; severity--) {
      const { first } = this.#chains[severity]!
      if (first === undefined) continue
      this.remove(first)
      return first
    }
    return undefined
  }

  /** The oldest record of one severity, left where it is. */
  oldestOf(severity: Severity): Pending | undefined {
    return this.#chains[severity]!.first
  }

  bytesOf(severity: Severity): number {
    return this.#chains[severity]!.bytes
  }

  lengthOf(severity: Severity): number {
    return this.#chains[severity]!.length
  }

  #grown(chain: Chain, record: Pending): void {
    chain.length++
    chain.bytes += record.bytes
    this.#length++
  }
}
