import type { DropReason } from '../delivery/ledger.js'
import type { Segment } from '../log/segment.js'
import type { Severity } from '../records/level.js'
import type { Clock, Timer } from '../runtime/clock.js'
import type { Files } from '../runtime/files.js'
import type { Trouble } from './health.js'
import { SpooledSegment } from './spooled-segment.js'

export interface SpooledSegmentsPlan {
  /** Bound of all files together. */
  readonly maxBytes: number
  readonly maxAgeMs: number
  readonly clock: Clock
  readonly files: Files
  readonly trouble: (what: Trouble, error: unknown) => void
  /** Called with the path of a file that stays, because another engine has added lines to it. */
  readonly grown: (path: string) => void
}

/** Acknowledgements are gathered for this long. After a kill, records that were delivered within it are sent again. */
const acknowledgeMs = 100
/** At most this number of files that cannot be removed are tried again. */
const maxStuck = 1000

/** What an engine has on disk, bounded in bytes and age: what does not fit is given up. */
export class SpooledSegments {
  readonly #plan: SpooledSegmentsPlan
  readonly #all = new Set<SpooledSegment>()
  /** Files with settled records that have no acknowledgement on disk. */
  readonly #settled = new Set<SpooledSegment>()
  /** Files without records that could not be removed. */
  readonly #stuck = new Set<SpooledSegment>()
  #bytes = 0
  #timer: Timer | undefined
  #closed = false

  constructor(plan: SpooledSegmentsPlan) {
    this.#plan = plan
  }

  /** What will be on disk of a segment. It counts here when it is added. */
  fileFor(segment: Segment, { adopted }: { readonly adopted: boolean }): SpooledSegment {
    return new SpooledSegment({
      segment,
      adopted,
      files: this.#plan.files,
      settled: (file) => this.#acknowledgeSoon(file),
      empty: (file) => this.#removeEmpty(file),
      failedToRead: (error) => this.#plan.trouble('read', error),
    })
  }

  add(file: SpooledSegment): void {
    this.#all.add(file)
    this.#bytes += file.bytes
  }

  /** A file grew by `bytes`. */
  grew(file: SpooledSegment, bytes: number): void {
    this.#bytes += bytes
    file.lastAt = this.#plan.clock.now()
    file.openedAt = Math.min(file.openedAt, file.lastAt)
  }

  /** A file gets no more lines. Never throws. */
  end(file: SpooledSegment): void {
    const fault = file.close()
    if (fault !== undefined) this.#plan.trouble('close', fault)
  }

  /**
   * To make room for records that are as severe, the oldest of the least severe segments are given up. Returns the bytes that fit then,
   * which may be fewer.
   */
  makeRoom(wanted: number, { severity, except }: { severity: Severity; except?: SpooledSegment }): number {
    for (;;) {
      const room = this.#plan.maxBytes - this.#bytes
      const file = room >= wanted ? undefined : this.#leastWanted(severity, except)
      if (file === undefined) return room
      this.#giveUp(file, 'spool-full')
    }
  }

  giveUpOld(): void {
    const { clock, maxAgeMs } = this.#plan
    for (const file of [...this.#all]) if (clock.now() - file.lastAt > maxAgeMs) this.#giveUp(file, 'too-old')
  }

  /** The files in a folder are another engine's, or gone. */
  lose(folder: string): void {
    for (const file of [...this.#all]) {
      if (!file.isIn(folder)) continue
      file.close()
      this.#forget(file)
      giveUpRecords(file.segment, 'spool-full')
    }
  }

  /** Remove what has no record left on disk. Never throws. */
  remove(file: SpooledSegment): void {
    this.#forget(file)
    const fault = file.removeFiles()
    if (fault === undefined) return
    this.#plan.trouble('remove', fault)
    if (this.#stuck.size < maxStuck) this.#stuck.add(file)
  }

  /** Try again to remove the files that could not be removed. Never throws. */
  removeStuck(): void {
    for (const file of this.#stuck) if (file.removeFiles() === undefined) this.#stuck.delete(file)
  }

  /** Write which records are settled. Never throws. */
  acknowledge(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    for (const file of this.#settled) if (this.#acknowledge(file)) this.#settled.delete(file)
  }

  /** Leave everything that has records to the next engine. */
  close(): void {
    this.#closed = true
    for (const file of [...this.#all]) {
      if (file.isSettled) this.#removeEmpty(file)
      else this.end(file)
    }
    this.acknowledge()
    this.removeStuck()
    this.#all.clear()
  }

  /** False when the disk fails: the next acknowledgement says it, or the records are sent again with the same idempotency keys. */
  #acknowledge(file: SpooledSegment): boolean {
    try {
      file.acknowledge()
      return true
    } catch (error) {
      this.#plan.trouble('acknowledge', error)
      return false
    }
  }

  #acknowledgeSoon(file: SpooledSegment): void {
    if (this.#closed) return
    this.#settled.add(file)
    this.#timer ??= this.#plan.clock.schedule(() => this.acknowledge(), acknowledgeMs)
  }

  #removeEmpty(file: SpooledSegment): void {
    if (!this.#all.has(file)) return
    const { grown } = file
    if (grown === undefined) {
      this.remove(file)
      return
    }
    // Its engine was not dead, but frozen.
    this.#forget(file)
    this.#acknowledge(file)
    this.#plan.grown(grown)
  }

  #forget(file: SpooledSegment): void {
    if (this.#all.delete(file)) this.#bytes -= file.bytes
    this.#settled.delete(file)
  }

  #giveUp(file: SpooledSegment, reason: DropReason): void {
    this.remove(file)
    giveUpRecords(file.segment, reason)
  }

  /** The oldest of the least severe ones that are at most this severe. */
  #leastWanted(most: Severity, except: SpooledSegment | undefined): SpooledSegment | undefined {
    let found: SpooledSegment | undefined
    for (const file of this.#all) {
      const { severity } = file.segment.log
      if (file === except || file.bytes === 0 || severity > most) continue
      const than = found?.segment.log.severity ?? Number.POSITIVE_INFINITY
      if (severity < than || (severity === than && file.lastAt < found!.lastAt)) found = file
    }
    return found
  }
}

/** The records of a segment that were on disk alone are lost, and the others are in memory alone. */
function giveUpRecords(segment: Segment, reason: DropReason): void {
  segment.log.forgetFile(segment, reason)
  // The next record goes to a segment with a file.
  segment.log.seal(segment)
}
