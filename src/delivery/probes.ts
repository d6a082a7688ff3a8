import { type Pending, RecordQueue } from './record-queue.js'

/** Twice the longest wait between probes by default: a few records at most. */
const shortlyMs = 60_000

/** Where a lane that is held takes records from. */
export interface ProbeSource {
  readonly ready: RecordQueue
  /** Take up to `size` records in the order in which they go out. */
  cut(size: number): Pending[]
}

/**
 * With which record of a lane that is held the service is asked next. One that failed, and may be at fault itself, is not asked with again
 * before all others. They come from both ends of the queue in turn, for records that no service would take tend to stand together.
 */
export class Probes {
  /** Records that failed since the lane was held, and may be at fault themselves. */
  readonly tried = new RecordQueue()
  /** What held the lane may be one record's own fault: another one is to be asked with at once, when there is one. */
  confirming = false
  /** When, on the clock, each of them failed alone; in the order in which they failed last. */
  readonly #failedAt = new Map<Pending, number>()
  #last: Pending | undefined

  /** Take the record to ask with, `beside` others that are under way; undefined when there is none. */
  next(source: ProbeSource, { beside = false } = {}): Pending | undefined {
    const fromTheEnd = beside || this.confirming || this.tried.length % 2 === 1
    const record = fromTheEnd ? source.ready.takeNewest() : source.cut(1)[0]
    return record ?? this.#takeFirstTried()
  }

  /** Records of a batch that found the lane open failed without a success beside: they hold it. */
  open(records: readonly Pending[], now: number): void {
    this.confirming = records.length > 0
    for (const record of records) this.#keep(record, records.length === 1 ? now : undefined)
  }

  /** A record failed that was on its way already when the lane was held. */
  join(record: Pending): void {
    this.#keep(record)
  }

  /**
   * The record that was asked with failed. `own`: it may be at fault itself; else it is put back elsewhere. `again`: another one is to be
   * asked with at once, unless that was the second; for the next time that the service is asked is far away.
   */
  failed(record: Pending, { own, again, now }: { own: boolean; again: boolean; now: number }): void {
    if (this.confirming && record === this.#last) this.confirming = own
    else this.confirming = own && again && !this.confirming
    if (own) this.#keep(record, now)
    else this.#failedAt.delete(record)
  }

  /**
   * The service takes records again. Of those that failed some are at fault: all, when the first other record that was asked with was taken;
   * else those that failed alone, so shortly before that it was hardly the service.
   */
  over(now: number): {
    readonly atFault: readonly Pending[]
    readonly others: readonly Pending[]
    readonly confirmed: boolean
  } {
    const records = this.tried.takeAll()
    const confirmed = this.confirming
    const isAtFault = (record: Pending) => confirmed || this.#failedAt.get(record)! >= now - shortlyMs
    const atFault = records.filter(isAtFault)
    const others = records.filter((record) => !isAtFault(record))
    this.confirming = false
    this.#last = undefined
    this.#failedAt.clear()
    return { atFault, others, confirmed }
  }

  #keep(record: Pending, failedAloneAt?: number): void {
    const failedAt = failedAloneAt ?? this.#failedAt.get(record) ?? Number.NEGATIVE_INFINITY
    this.#failedAt.delete(record)
    this.#failedAt.set(record, failedAt)
    this.#last = record
    this.tried.putBack(record)
  }

  #takeFirstTried(): Pending | undefined {
    for (const record of this.#failedAt.keys()) {
      // It may have been shed.
      if (record.heapIndex < 0) continue
      this.tried.remove(record)
      return record
    }
    return undefined
  }
}
