import type { DropReason } from '../delivery/ledger.js'
import type { Severity } from '../records/level.js'
import { type Backing, noBacking } from './backing.js'
import type { Ref, Segment } from './segment.js'

/** The bounds of the records that one engine has in memory, queued and in flight together. */
export interface Limits {
  readonly maxQueueRecords: number
  readonly maxQueueBytes: number
}

/** What the bounds ask of a log. */
export interface BoundedLog {
  readonly lane: number
  readonly severity: Severity
  /** Records in memory alone that are not in flight, and their bytes: all of it can be shed. */
  readonly spare: { readonly records: number; readonly bytes: number }
  /** The oldest record in memory alone that is not in flight. */
  oldestSpare(): Ref | undefined
  /** Suspects that wait, the oldest first. */
  suspects(): Iterable<Ref>
  segments(): Iterable<Segment>
  evict(segment: Segment): number
  lose(segment: Segment, from: number, count: number, reason: DropReason): void
}

interface MemoryBoundsPlan {
  readonly limits: Limits
  readonly backing: Backing
  /** True while a gate keeps the records of a lane back. */
  readonly isGated: (lane: number) => boolean
  /** Records were given up. */
  readonly lost: (lane: number, reason: DropReason, count: number) => void
}

/** Counts the records of all logs of an engine that are in memory, and chooses which records leave it when more comes than fits. */
export class MemoryBounds {
  readonly #plan: MemoryBoundsPlan
  readonly #logs: BoundedLog[] = []
  #records = 0
  #bytes = 0
  #closed = false
  #waiting: { readonly bytes: number; readonly resolve: () => void }[] = []

  constructor(plan: MemoryBoundsPlan) {
    this.#plan = plan
  }

  /** Records in memory that are not gone. */
  get records(): number {
    return this.#records
  }

  /** Bytes of these, with their own keys. */
  get bytes(): number {
    return this.#bytes
  }

  /** A log counts here. The least severe stand first, and go first. */
  watch(log: BoundedLog): void {
    this.#logs.push(log)
    this.#logs.sort((a, b) => a.severity - b.severity)
  }

  /** Records of a lane were given up. */
  lost(lane: number, reason: DropReason, count: number): void {
    if (count > 0) this.#plan.lost(lane, reason, count)
  }

  take(bytes: number, records = 1): void {
    this.#records += records
    this.#bytes += bytes
  }

  release(bytes: number, records = 1): void {
    this.#records -= records
    this.#bytes -= bytes
    if (this.#waiting.length > 0) this.#wake()
  }

  fits(bytes: number, records = 1): boolean {
    const { maxQueueRecords, maxQueueBytes } = this.#plan.limits
    return this.#records + records <= maxQueueRecords && this.#bytes + bytes <= maxQueueBytes
  }

  /** True where a record of this size may come back from disk. A large one may until three quarters of the bytes are taken, for it may never fit. */
  admits(bytes: number): boolean {
    const { maxQueueRecords, maxQueueBytes } = this.#plan.limits
    return this.fits(bytes) || (this.#records < maxQueueRecords && this.#bytes <= maxQueueBytes * (3 / 4))
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
  get isRoomy(): boolean {
    return this.#fillsAtMost(1 / 2)
  }

  /**
   * Make room for a newcomer. With a spool, segments leave memory, and the newcomer may always come: its log evicts it where it does not
   * fit. Where the disk takes nothing, suspects are shed first, the oldest first, then records that are no more severe than the newcomer:
   * the least severe first, and the oldest first within a severity. False, and nothing is shed, when all of them are not enough.
   */
  makeRoom(newcomer: { readonly severity: Severity; readonly bytes: number }): boolean {
    if (this.fits(newcomer.bytes)) return true
    this.evict()
    if (this.fits(newcomer.bytes) || this.#plan.backing.takes) return true
    if (!this.#canShed(newcomer)) return false
    while (!this.fits(newcomer.bytes)) {
      const { log, ref } = this.#nextToShed()
      log.lose(ref.segment, ref.index, 1, this.#plan.backing.lossReason)
    }
    return true
  }

  /**
   * Segments leave memory for the disk until a quarter of the room is free: first those of lanes that may not send, then the least severe,
   * the newest first.
   */
  evict(): void {
    const { backing, isGated } = this.#plan
    if (backing === noBacking) return
    const gated = this.#logs.filter(({ lane }) => isGated(lane))
    const others = this.#logs.filter(({ lane }) => !isGated(lane))
    for (const log of [...gated, ...others]) {
      for (const segment of [...log.segments()].reverse()) {
        if (this.#fillsAtMost(3 / 4)) return
        log.evict(segment)
      }
    }
  }

  /** True when suspects and records up to the severity of the newcomer make room for it. */
  #canShed({ severity, bytes }: { readonly severity: Severity; readonly bytes: number }): boolean {
    let spareBytes = 0
    let spareRecords = 0
    const isEnough = () => this.fits(bytes - spareBytes, 1 - spareRecords)
    for (const log of this.#logs) {
      if (log.severity > severity) continue
      spareBytes += log.spare.bytes
      spareRecords += log.spare.records
    }
    if (isEnough()) return true
    for (const log of this.#logs) {
      if (log.severity <= severity) continue
      for (const { segment, index } of spareSuspects(log)) {
        spareBytes += segment.spanOf(index, 1)
        spareRecords++
        if (isEnough()) return true
      }
    }
    return false
  }

  #nextToShed(): { readonly log: BoundedLog; readonly ref: Ref } {
    const suspect = oldestOf(this.#logs, (log) => first(spareSuspects(log)))
    if (suspect !== undefined) return suspect
    const least = this.#logs.find(({ spare }) => spare.records > 0)!.severity
    const logs = this.#logs.filter(({ severity }) => severity === least)
    return oldestOf(logs, (log) => log.oldestSpare())!
  }

  #fillsAtMost(share: number): boolean {
    const { maxQueueRecords, maxQueueBytes } = this.#plan.limits
    return this.#records <= maxQueueRecords * share && this.#bytes <= maxQueueBytes * share
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = waiting.filter(({ bytes }) => !this.hasRoom(bytes))
    for (const { bytes, resolve } of waiting) if (this.hasRoom(bytes)) resolve()
  }
}

/** Suspects that are in memory alone. */
function* spareSuspects(log: BoundedLog): Iterable<Ref> {
  if (log.spare.records === 0) return
  for (const ref of log.suspects()) if (ref.index >= ref.segment.committed) yield ref
}

function first(refs: Iterable<Ref>): Ref | undefined {
  for (const ref of refs) return ref
  return undefined
}

function oldestOf(
  logs: readonly BoundedLog[],
  refOf: (log: BoundedLog) => Ref | undefined,
): { readonly log: BoundedLog; readonly ref: Ref } | undefined {
  let oldest: { readonly log: BoundedLog; readonly ref: Ref } | undefined
  let lowest = Number.POSITIVE_INFINITY
  for (const log of logs) {
    const ref = refOf(log)
    const sequence = ref === undefined ? lowest : ref.segment.sequenceOf(ref.index)
    if (sequence >= lowest) continue
    lowest = sequence
    oldest = { log, ref: ref! }
  }
  return oldest
}
