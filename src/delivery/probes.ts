import { type Pending, RecordQueue } from './record-queue.js'

/** Twice the longest wait between probes by default: a few records at most. */
const shortlyMs = 60_000

interface ProbeFailure {
  /** It may be at fault itself. */
  readonly own: boolean
  /** On the clock: when it failed, if no other did with it. */
  readonly aloneAt: number | undefined
}

/** The records that failed before a success, by what the success says of them. */
export interface Verdict {
  readonly atFault: readonly Pending[]
  /** Not even sent, or the key was wrong: they wait a little, so that a record that can never be sent holds up nobody. */
  readonly unsent: readonly Pending[]
  readonly others: readonly Pending[]
  /** The first other record was taken: there was no outage. */
  readonly confirmed: boolean
}

/** Where a lane that is held takes records from. */
export interface ProbeSource {
  readonly ready: RecordQueue
  /** Take up to `size` records in the order in which they go out. */
  cut(size: number): Pending[]
}

/**
 * Chooses the record of a held lane that tests the service next. A record that failed is not chosen again before all others. They come from
 * both ends of the queue in turn, for records that no service would take tend to stand together.
 */
export class Probes {
  /** Records that failed since the lane was held: they are sent again when there are no others. */
  readonly tried = new RecordQueue()
  /** One record may be at fault: another one is to be sent at once, when there is one. */
  confirming = false
  /** The last failure of each, in the order of those failures. */
  readonly #failures = new Map<Pending, ProbeFailure>()
  #last: Pending | undefined

  /** Take the next record, `beside` others that are under way; undefined when there is none. */
  next(source: ProbeSource, { beside = false } = {}): Pending | undefined {
    const fromTheEnd = beside || this.confirming || this.tried.length % 2 === 1
    const record = fromTheEnd ? source.ready.takeNewest() : source.cut(1)[0]
    return record ?? this.#takeFirstTried()
  }

  /** Records of a batch failed while the lane was open, perhaps by their own fault, and nothing succeeded beside them: the lane is held. */
  open(records: readonly Pending[], now: number): void {
    this.confirming = records.length > 0
    for (const record of records) this.#keep(record, { own: true, aloneAt: records.length === 1 ? now : undefined })
  }

  /** A record failed, perhaps by its own fault, that had left before the lane was held. */
  join(record: Pending): void {
    this.#keep(record, { own: true, aloneAt: undefined })
  }

  /**
   * The record that tested the service failed; `own`: it may be at fault itself. `again`: another one is to be sent at once, unless this
   * was the second, for the next test is far away.
   */
  failed(record: Pending, { own, again, now }: { own: boolean; again: boolean; now: number }): void {
    if (this.confirming && record === this.#last) this.confirming = own
    else this.confirming = own && again && !this.confirming
    this.#keep(record, { own, aloneAt: now })
  }

  /**
   * The service takes records again. All records that may be at fault are so, when the first other record was taken. Else those are that
   * failed alone, so shortly before that the service was hardly to blame.
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
