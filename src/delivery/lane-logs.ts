import type { RecordLog } from '../log/record-log.js'
import type { Ref } from '../log/segment.js'
import { type Severity, valueSeverity } from '../records/level.js'
import type { Batch } from './batch.js'

/** A log for each severity, and the order in which records go out of them: the oldest first. */
export class LaneLogs {
  /** The most severe records go first. */
  severeFirst: boolean
  readonly #make: (severity: Severity) => RecordLog
  readonly #logs: (RecordLog | undefined)[] = new Array(valueSeverity + 1).fill(undefined)

  constructor(make: (severity: Severity) => RecordLog, { severeFirst }: { readonly severeFirst: boolean }) {
    this.#make = make
    this.severeFirst = severeFirst
  }

  /** The log of a severity, which is made when the first record of it comes. */
  of(severity: Severity): RecordLog {
    this.#logs[severity] ??= this.#make(severity)
    return this.#logs[severity]
  }

  /** The logs that have been made, the least severe first. */
  get all(): readonly RecordLog[] {
    return this.#logs.filter((log) => log !== undefined)
  }

  /** Records that are ready. */
  get ready(): number {
    let sum = 0
    for (const log of this.#logs) if (log !== undefined) sum += log.ready
    return sum
  }

  /** The sequence of the oldest record that is ready; infinity without one. */
  get oldest(): number {
    return this.#oldestBut(undefined)
  }

  /** Move the records that go out next into a batch, until it has `size` or is full. */
  cut(batch: Batch, size: number): void {
    for (let before = -1; batch.length < size && batch.length > before; ) {
      before = batch.length
      const log = this.#next()
      if (log === undefined) return
      log.take(batch, size, this.severeFirst ? Number.POSITIVE_INFINITY : this.#oldestBut(log))
    }
  }

  /** The same with records that are in memory, the most severe first, while those that would go out next are on disk. */
  cutResident(batch: Batch, size: number): void {
    for (const log of this.#logs.toReversed()) log?.takeResident(batch, size)
  }

  /** The most severe record that is ready and in memory. */
  firstResident(): Ref | undefined {
    return this.#logs.findLast((log) => log?.firstResident() !== undefined)?.firstResident()
  }

  /** The record that goes out next. */
  first(): Ref | undefined {
    return this.#next()?.first()
  }

  /** The record that is ready and was accepted last. */
  newest(): Ref | undefined {
    let newest: Ref | undefined
    for (const log of this.#logs) {
      const of = log?.newest()
      if (of === undefined) continue
      if (newest === undefined || sequenceOf(of) > sequenceOf(newest)) newest = of
    }
    return newest
  }

  /** The log from which the next record goes out. */
  #next(): RecordLog | undefined {
    let next: RecordLog | undefined
    for (const log of this.#logs) {
      if (log === undefined || log.ready === 0) continue
      if (next === undefined || this.severeFirst || log.oldest < next.oldest) next = log
    }
    return next
  }

  #oldestBut(other: RecordLog | undefined): number {
    let oldest = Number.POSITIVE_INFINITY
    for (const log of this.#logs) if (log !== undefined && log !== other && log.oldest < oldest) oldest = log.oldest
    return oldest
  }
}

function sequenceOf({ segment, index }: Ref): number {
  return segment.sequenceOf(index)
}
