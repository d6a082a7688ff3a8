import type { Severity } from '../records/level.js'
import type { Lane } from './lane.js'
import type { Pending, RecordQueue } from './record-queue.js'
import type { Room } from './store.js'

/** The bound of what one engine holds in memory, queued and in flight together. */
export interface Limits {
  readonly maxQueueRecords: number
  readonly maxQueueBytes: number
}

/** What is held now, of all lanes of an engine, and who has to go when more comes than fits. */
export class Bounds {
  readonly #limits: Limits
  /** Every queue from which something can be shed, and whose it is. */
  readonly #queues: readonly { readonly lane: Lane; readonly queue: RecordQueue }[]
  #records = 0
  #bytes = 0

  constructor(limits: Limits, lanes: readonly Lane[]) {
    this.#limits = limits
    this.#queues = lanes.flatMap((lane) => [
      { lane, queue: lane.ready },
      { lane, queue: lane.delayed.queue },
    ])
  }

  take(bytes: number): void {
    this.#records++
    this.#bytes += bytes
  }

  release(bytes: number): void {
    this.#records--
    this.#bytes -= bytes
  }

  fits(bytes: number): boolean {
    return this.#records < this.#limits.maxQueueRecords && this.#bytes + bytes <= this.#limits.maxQueueBytes
  }

  /** Whether at least half of the room is free. */
  get roomy(): boolean {
    return this.#fills(1 / 2)
  }

  /** What may come without need: until half of the room is taken. */
  get spare(): Room {
    const { maxQueueRecords, maxQueueBytes } = this.#limits
    const records = Math.floor(maxQueueRecords / 2) - this.#records
    const bytes = maxQueueBytes / 2 - this.#bytes
    // A bound of one record has no half.
    if (this.#records === 0) return { records: Math.max(1, records), bytes }
    return bytes > 0 ? { records: Math.max(0, records), bytes } : { records: 0, bytes: 0 }
  }

  /** Whether at least three quarters of the room are free: time to bring back what had to leave. */
  get low(): boolean {
    return this.#fills(1 / 4)
  }

  /**
   * Make room for a newcomer at the cost of records that matter no more than it does: the lowest severity first, the oldest
   * first within it. False, and nothing is shed, when even all of them would not be enough.
   */
  makeRoom(newcomer: { severity: Severity; bytes: number }, shed: (lane: Lane, record: Pending) => void): boolean {
    if (this.fits(newcomer.bytes)) return true
    if (!this.#canMakeRoom(newcomer)) return false
    for (let severity = 0; severity <= newcomer.severity; severity++) {
      for (;;) {
        if (this.fits(newcomer.bytes)) return true
        const oldest = this.#oldestOf(severity as Severity)
        if (oldest === undefined) break
        shed(oldest.lane, oldest.record)
      }
    }
    return this.fits(newcomer.bytes)
  }

  #fills(share: number): boolean {
    const { maxQueueRecords, maxQueueBytes } = this.#limits
    return this.#records <= maxQueueRecords * share && this.#bytes <= maxQueueBytes * share
  }

  #canMakeRoom({ severity, bytes }: { severity: Severity; bytes: number }): boolean {
    let records = this.#records
    let held = this.#bytes + bytes
    for (const { queue } of this.#queues) {
      for (let lower = 0; lower <= severity; lower++) {
        records -= queue.lengthOf(lower as Severity)
        held -= queue.bytesOf(lower as Severity)
        if (records < this.#limits.maxQueueRecords && held <= this.#limits.maxQueueBytes) return true
      }
    }
    return false
  }

  #oldestOf(severity: Severity): { lane: Lane; record: Pending } | undefined {
    let owner: Lane | undefined
    let oldest: Pending | undefined
    for (const { lane, queue } of this.#queues) {
      const record = queue.oldestOf(severity)
      if (record === undefined || (oldest !== undefined && oldest.sequence < record.sequence)) continue
      owner = lane
      oldest = record
    }
    return owner === undefined || oldest === undefined ? undefined : { lane: owner, record: oldest }
  }
}
