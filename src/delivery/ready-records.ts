import type { Severity } from '../records/level.js'
import { type BodyRoom, FreshLog } from './fresh-log.js'
import type { RecordBatch } from './record-batch.js'
import { type HeldRecord, type Pending, pendingRecord, RecordQueue } from './record-queue.js'

const mostSevere: Severity = 6

/**
 * The records of a lane that may go out now, in order of acceptance. Those that come as they are accepted are bytes in a log. Those that
 * come back from an attempt or from the store, and those with a key of their own, are objects in a queue.
 */
export class ReadyRecords {
  readonly #fresh: FreshLog
  readonly #returned = new RecordQueue()

  constructor(keyOf: (sequence: number) => string) {
    this.#fresh = new FreshLog(keyOf)
  }

  get length(): number {
    return this.#fresh.length + this.#returned.length
  }

  lengthOf(severity: Severity): number {
    return this.#fresh.lengthOf(severity) + this.#returned.lengthOf(severity)
  }

  bytesOf(severity: Severity): number {
    return this.#fresh.bytesOf(severity) + this.#returned.bytesOf(severity)
  }

  /** The records as they were accepted. */
  get fresh(): FreshLog {
    return this.#fresh
  }

  room(bytes: number): BodyRoom {
    return this.#fresh.room(bytes)
  }

  /** Put back a record that was taken, or add one from the store. It keeps its place in the order of acceptance. */
  putBack(record: Pending): void {
    this.#returned.putBack(record)
  }

  /** Move the oldest records into a batch, until it has `most` or is full. */
  cut(batch: RecordBatch, most: number): void {
    while (batch.length < most) {
      const returned = this.#returned.oldest
      if (returned === undefined || this.#fresh.oldest < returned.sequence) {
        const before = batch.length
        this.#fresh.cut(batch, most, returned?.sequence)
        if (batch.length === before) return
      } else {
        if (!batch.fits(returned.bytes)) return
        this.#returned.remove(returned)
        batch.add(returned)
      }
    }
  }

  /** Take the record that was accepted first. */
  takeOldest(): Pending | undefined {
    const returned = this.#returned.oldest
    if (returned === undefined || this.#fresh.oldest < returned.sequence) return asObject(this.#fresh.takeOldest())
    this.#returned.remove(returned)
    return returned
  }

  /** Take the record that was accepted last. */
  takeNewest(): Pending | undefined {
    const returned = this.#returned.newest
    if (returned === undefined || this.#fresh.newest > returned.sequence) return asObject(this.#fresh.takeNewest())
    this.#returned.remove(returned)
    return returned
  }

  /** Take the oldest of the most severe records. */
  takeMostSevere(): Pending | undefined {
    for (let severity: number = mostSevere; severity >= 0; severity--) {
      if (this.lengthOf(severity as Severity) > 0) {
        const record = this.takeOldestOf(severity as Severity)!
        return isObject(record) ? record : asObject(record)
      }
    }
    return undefined
  }

  /** Sequence of the oldest record of a severity; infinity without one. */
  oldestOf(severity: Severity): number {
    const returned = this.#returned.oldestOf(severity)?.sequence ?? Number.POSITIVE_INFINITY
    return Math.min(returned, this.#fresh.oldestOf(severity))
  }

  /** Take the oldest record of a severity. The result is valid until the next record is added. */
  takeOldestOf(severity: Severity): HeldRecord | undefined {
    const returned = this.#returned.oldestOf(severity)
    if (returned === undefined || this.#fresh.oldestOf(severity) < returned.sequence) {
      return this.#fresh.takeOldestOf(severity)
    }
    this.#returned.remove(returned)
    return returned
  }

  /** Visit at most `most` records. Those for which `leaves` returns true are removed. The least severe of each kind come first. */
  visit(most: number, leaves: (record: HeldRecord) => boolean): void {
    const returned = this.#returned.leastSevere(most)
    for (const record of returned) if (leaves(record)) this.#returned.remove(record)
    this.#fresh.visit(most - returned.length, leaves)
  }
}

function isObject(record: HeldRecord): record is Pending {
  return 'attempts' in record
}

function asObject(record: HeldRecord | undefined): Pending | undefined {
  return record && pendingRecord(record, record)
}
