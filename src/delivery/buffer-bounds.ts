import type { Severity } from '../records/level.js'
import type { Lane } from './lane.js'
import type { Limits } from './plan.js'
import type { Shelf } from './shelf.js'
import type { Room } from './store.js'

interface Place {
  readonly lane: Lane
  readonly shelf: Shelf
}

/** The record that is to be shed: the oldest of a severity in a place. */
export interface Candidate extends Place {
  readonly severity: Severity
}

/** Counts the records of all lanes of an engine, and chooses those that leave when more comes than fits. */
export class BufferBounds {
  readonly #limits: Limits
  /** Every place from which records can be shed: suspects, and the others. */
  readonly #suspects: readonly Place[]
  readonly #others: readonly Place[]
  #records = 0
  #bytes = 0
  #closed = false
  #waiting: { readonly bytes: number; readonly resolve: () => void }[] = []

  constructor(limits: Limits, lanes: readonly Lane[]) {
    this.#limits = limits
    const places = lanes.flatMap((lane) => lane.shelves.map((shelf) => ({ lane, shelf })))
    this.#suspects = places.filter(({ shelf }) => shelf.suspects)
    this.#others = places.filter(({ shelf }) => !shelf.suspects)
  }

  take(bytes: number): void {
    this.#records++
    this.#bytes += bytes
  }

  release(bytes: number, records = 1): void {
    this.#records -= records
    this.#bytes -= bytes
    if (this.#waiting.length > 0) this.#wake()
  }

  fits(bytes: number): boolean {
    return this.#records < this.#limits.maxQueueRecords && this.#bytes + bytes <= this.#limits.maxQueueBytes
  }

  /** True while a record of this size fits, or nothing is held, or this is closed. A record above the bound fits once nothing is held. */
  hasRoom(bytes: number): boolean {
    return this.#closed || this.#records === 0 || this.fits(bytes)
  }

  /** Resolves when {@link hasRoom} becomes true for a record of this size. */
  async whenRoom(bytes: number): Promise<void> {
    if (!this.hasRoom(bytes)) await new Promise<void>((resolve) => this.#waiting.push({ bytes, resolve }))
  }

  /** Resolves every {@link whenRoom}, now and later. */
  close(): void {
    this.#closed = true
    this.#wake()
  }

  /** True while at least half of the room is free. */
  get roomy(): boolean {
    return this.#fillsAtMost(1 / 2)
  }

  /** True while at least three quarters of the room are free: time to bring back parked records. */
  get low(): boolean {
    return this.#fillsAtMost(1 / 4)
  }

  /**
   * Room for one record that is needed now, until three quarters of the bytes are taken, for it may be larger than the room, or until the
   * last record.
   */
  get single(): Room {
    const { maxQueueRecords, maxQueueBytes } = this.#limits
    const isFree = this.#records < maxQueueRecords && this.#bytes <= maxQueueBytes * (3 / 4)
    return isFree ? { records: 1, bytes: maxQueueBytes - this.#bytes } : { records: 0, bytes: 0 }
  }

  /** Room for records that need not come now: until half of it is taken. */
  get spare(): Room {
    const { maxQueueRecords, maxQueueBytes } = this.#limits
    const records = Math.floor(maxQueueRecords / 2) - this.#records
    const bytes = maxQueueBytes / 2 - this.#bytes
    // A bound of one record has no half.
    if (this.#records === 0) return { records: Math.max(1, records), bytes }
    return bytes > 0 ? { records: Math.max(0, records), bytes } : { records: 0, bytes: 0 }
  }

  /**
   * Make room for a newcomer. Suspects go first, whatever their severity, then records that are no more severe than the newcomer. In both
   * the lowest severity goes first, and the oldest first within it. False, and nothing is shed, when all of them together are not enough.
   */
  makeRoom(newcomer: { severity: Severity; bytes: number }, shed: (candidate: Candidate) => void): boolean {
    if (this.fits(newcomer.bytes)) return true
    if (!this.#canMakeRoom(newcomer)) return false
    for (const [places, most] of this.#order(newcomer.severity)) {
      if (!places.some(({ shelf }) => shelf.length > 0)) continue
      for (let severity = 0; severity <= most; severity++) {
        for (;;) {
          if (this.fits(newcomer.bytes)) return true
          const oldest = oldestOf(places, severity as Severity)
          if (oldest === undefined) break
          shed(oldest)
        }
      }
    }
    return this.fits(newcomer.bytes)
  }

  /** The places from which records may be shed for a newcomer of this severity, and up to which severity. */
  #order(severity: Severity): readonly (readonly [places: readonly Place[], most: Severity])[] {
    return [
      [this.#suspects, mostSevere],
      [this.#others, severity],
    ]
  }

  #canMakeRoom({ severity, bytes }: { severity: Severity; bytes: number }): boolean {
    let records = this.#records
    let held = this.#bytes + bytes
    for (const [places, most] of this.#order(severity)) {
      for (const { shelf } of places) {
        if (shelf.length === 0) continue
        for (let lower = 0; lower <= most; lower++) {
          records -= shelf.lengthOf(lower as Severity)
          held -= shelf.bytesOf(lower as Severity)
          if (records < this.#limits.maxQueueRecords && held <= this.#limits.maxQueueBytes) return true
        }
      }
    }
    return false
  }

  #fillsAtMost(share: number): boolean {
    const { maxQueueRecords, maxQueueBytes } = this.#limits
    return this.#records <= maxQueueRecords * share && this.#bytes <= maxQueueBytes * share
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = waiting.filter(({ bytes }) => !this.hasRoom(bytes))
    for (const { bytes, resolve } of waiting) if (this.hasRoom(bytes)) resolve()
  }
}

const mostSevere: Severity = 6

function oldestOf(places: readonly Place[], severity: Severity): Candidate | undefined {
  let oldest: Place | undefined
  let first = Number.POSITIVE_INFINITY
  for (const place of places) {
    const sequence = place.shelf.lengthOf(severity) === 0 ? first : place.shelf.oldestOf(severity)
    if (sequence >= first) continue
    first = sequence
    oldest = place
  }
  return oldest && { ...oldest, severity }
}
