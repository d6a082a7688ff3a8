import { type Pending, RecordQueue } from './record-queue.js'

/** Twice the longest wait between probes by default: a few records at most. */
const shortlyMs = 60_000

interface ProbeFailure {
  /** It may be at fault itself. */
  readonly own: boolean
  /** On the clock: when it failed, if no other did with it. */
  readonly aloneAt: number | undefined
}

/** What a success says of those that failed before. */
export interface Verdict {
  readonly atFault: readonly Pending[]
  /** They were not even sent, or the key was wrong: they wait a little, so that one that can never be sent holds up nobody. */
  readonly unsent: readonly Pending[]
  readonly others: readonly Pending[]
  /** It was the first other record that was asked with, so that it was no outage. */
  readonly confirmed: boolean
}

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
  /** Records that failed since the lane was held: they are asked with again when there are no others. */
  readonly tried = new RecordQueue()
  /** What held the lane may be one record's own fault: another one is to be asked with at once, when there is one. */
  confirming = false
  /** What is known of each of them, in the order in which they failed last. */
  readonly #failures = new Map<Pending, ProbeFailure>()
  #last: Pending | undefined

  /** Take the record to ask with, `beside` others that are under way; undefined when there is none. */
  next(source: ProbeSource, { beside = false } = {}): Pending | undefined {
    const fromTheEnd = beside || this.confirming || this.tried.length % 2 === 1
    const record = fromTheEnd ? source.ready.takeNewest() : source.cut(1)[0]
    return record ?? this.#takeFirstTried()
  }

  /** Records of a batch that found the lane open failed without a success beside, perhaps by their own fault: they hold it. */
  open(records: readonly Pending[], now: number): void {
    this.confirming = records.length > 0
    for (const record of records) this.#keep(record, { own: true, aloneAt: records.length === 1 ? now : undefined })
  }

  /** A record failed, perhaps by its own fault, that was on its way already when the lane was held. */
  join(record: Pending): void {
    this.#keep(record, { own: true, aloneAt: undefined })
  }

  /**
   * The record that was asked with failed; `own`: it may be at fault itself. `again`: another one is to be asked with at once, unless that
   * was the second; for the next time that the service is asked is far away.
   */
  failed(record: Pending, { own, again, now }: { own: boolean; again: boolean; now: number }): void {
    if (this.confirming && record === this.#last) this.confirming = own
    else this.confirming = own && again && !this.confirming
    this.#keep(record, { own, aloneAt: now })
  }

  /**
   * The service takes records again. Of those that failed some are at fault: all that may be, when the first other record that was asked
   * with was taken; else those that failed alone, so shortly before that it was hardly the service.
   */
  over(now: number): Verdict {
    const confirmed = this.confirming
    const isAtFault = ({ own, aloneAt = Number.NEGATIVE_INFINITY }: ProbeFailure) =>
      own && (confirmed || aloneAt >= now - shortlyMs)
    const verdict = { atFault: [] as Pending[], unsent: [] as Pending[], others: [] as Pending[], confirmed }
    for (const record of this.tried.takeAll()) {
      const failure = this.#failures.get(record)!
      if (isAtFault(failure)) verdict.atFault.push(record)
      else if (failure.own) verdict.others.push(record)
      else verdict.unsent.push(record)
    }
    this.confirming = false
    this.#last = undefined
    this.#failures.clear()
    return verdict
  }

  #keep(record: Pending, { own, aloneAt }: ProbeFailure): void {
    const before = this.#failures.get(record)
    this.#failures.delete(record)
    this.#failures.set(record, { own, aloneAt: aloneAt ?? before?.aloneAt })
    this.#last = record
    this.tried.putBack(record)
  }

  #takeFirstTried(): Pending | undefined {
    for (const record of this.#failures.keys()) {
      // It may have been shed.
      if (record.heapIndex < 0) continue
      this.tried.remove(record)
      return record
    }
    return undefined
  }
}
