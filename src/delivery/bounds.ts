import type { Severity } from '../records/level.js'
import type { Lane } from './lane.js'
import type { Pending, RecordQueue } from './record-queue.js'

/** The bound of what one engine holds in memory, queued and in flight together. */
export interface Limits {
  readonly maxQueueRecords: number
  readonly maxQueueBytes: number
}

/** What is held now, of all lanes of an engine, and who has to go when more comes than fits. */
export class Bounds {
  readonly #limits: Limits
  readonly #lanes: readonly Lane[]
  #records = 0
  #bytes = 0

  constructor(limits: Limits, lanes: readonly Lane[]) {
    this.#limits = limits
    this.#lanes = lanes
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
    const { maxQueueRecords, maxQueueBytes } = this.#limits
    return this.#records <= maxQueueRecords / 2 && this.#bytes <= maxQueueBytes / 2
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

  #canMakeRoom({ severity, bytes }: { severity: Severity; bytes: number }): boolean {
    let records = 0
    let held = 0
    for (const queue of this.#queues()) {
      for (let lower = 0; lower <= severity; lower++) {
        records += queue.lengthOf(lower as Severity)
        held += queue.bytesOf(lower as Severity)
      }
    }
    return (
      this.#records - records < this.#limits.maxQueueRecords && this.#bytes - held + bytes <= this.#limits.maxQueueBytes
    )
  }

  #oldestOf(severity: Severity): { lane: Lane; record: Pending } | undefined {
    let oldest: { lane: Lane; record: Pending } | undefined
    for (const lane of this.#lanes) {
      for (const queue of [lane.ready, lane.delayed.queue]) {
        const record = queue.oldestOf(severity)
        if (record !== undefined && (oldest === undefined || record.sequence < oldest.record.sequence)) {
          oldest = { lane, record }
        }
      }
    }
    return oldest
  }

  #queues(): RecordQueue[] {
    return this.#lanes.flatMap((lane) => [lane.ready, lane.delayed.queue])
  }
}
