import { type Pending, RecordQueue } from './record-queue.js'
import type { Wait } from './rules.js'

/** Twice the longest wait between probes by default: a few records at most fail alone within it. */
const shortlyMs = 60_000

/** A record that failed, and the wait that the service asked for. */
export interface FailedRecord {
  readonly record: Pending
  readonly wait: Wait
}

interface ProbeFailure {
  /** True when the record may be at fault itself. */
  readonly own: boolean
  /** On the clock: when it failed, if no other record failed with it. */
  readonly aloneAt: number | undefined
  readonly wait: Wait
}

/** The records that failed before a success, by what the success says of them. */
export interface Verdict {
  readonly atFault: readonly FailedRecord[]
  /** Never sent, or the key was wrong. They wait a little, so that a record that can never be sent holds up no other. */
  readonly unsent: readonly Pending[]
  readonly others: readonly Pending[]
  /** True when the first other record was taken: there was no outage. */
  readonly confirmed: boolean
}

/** The place from which a lane takes records. */
interface ProbeSource {
  readonly ready: { takeNewest(): Pending | undefined }
  /** Take the record that goes out next. */
  takeNext(): Pending | undefined
}

/** The breaker of the lane when records of it failed, and nothing succeeded beside them. */
interface FailedAlone {
  /** The breaker was open, and the failed record was its probe. */
  readonly asked: boolean
  readonly open: boolean
  readonly paused: boolean
  readonly now: number
}

/**
 * Chooses the record that tests the service next while the breaker is open. A record that failed comes after all others. The others come
 * from both ends of the queue in turn: records that no service would take tend to stand together.
 */
export class Probes {
  /** Records that failed since the breaker opened. They are sent again when there are no others. */
  readonly tried = new RecordQueue()
  #confirming = false
  /** The last failure of each, in the order of those failures. */
  readonly #failures = new Map<Pending, ProbeFailure>()
  #last: Pending | undefined
  /** Records that failed alone in an outage before this one, long before its end. */
  readonly #aloneBefore = new WeakSet<Pending>()

  /** True while one record may be at fault, and another one is to be sent at once to find out. */
  get confirming(): boolean {
    return this.#confirming
  }

  /** Take the next record, `beside` others that are in flight; undefined when there is none. */
  next(source: ProbeSource, { beside }: { readonly beside: boolean }): Pending | undefined {
    const fromTheEnd = beside || this.#confirming || this.tried.length % 2 === 1
    const record = fromTheEnd ? source.ready.takeNewest() : source.takeNext()
    return record ?? this.#takeFirstTried()
  }

  /** Records failed and nothing succeeded beside them. `blamed` are those that may be at fault. Keeps them, and the probe in any case. */
  failedAlone(
    probe: FailedRecord,
    { blamed, asked, open, paused, now }: FailedAlone & { readonly blamed: readonly FailedRecord[] },
  ): void {
    if (asked) this.#probeFailed(probe, { own: blamed.length > 0, again: paused, now })
    else if (!open) {
      this.#confirming = blamed.length > 0
      for (const each of blamed) this.#keep(each, { own: true, aloneAt: blamed.length === 1 ? now : undefined })
    } else for (const each of blamed) this.#keep(each, { own: true, aloneAt: undefined })
  }

  /** A suspect was sent as a probe and failed. Another record confirms it where the failure may be its own. */
  suspectFailed({ own }: { readonly own: boolean }): void {
    this.#confirming = own
  }

  /** The key was refused: no other record is sent at once. */
  denied(): void {
    this.#confirming = false
  }

  /**
   * The service takes records again. When the first other record was taken, all records that may be at fault are. Else those are that
   * failed alone, so shortly before that the service was hardly to blame, or in the second outage. Without `proven` no record of this
   * lane was taken, and none is at fault.
   */
  over(now: number, { proven }: { readonly proven: boolean }): Verdict {
    const confirmed = this.#confirming
    const isAtFault = (record: Pending, { own, aloneAt }: ProbeFailure) => {
      if (!own || !proven) return false
      if (confirmed || aloneAt === undefined) return confirmed
      return aloneAt >= now - shortlyMs || this.#aloneBefore.has(record)
    }
    const verdict = { atFault: [] as FailedRecord[], unsent: [] as Pending[], others: [] as Pending[], confirmed }
    for (const record of this.tried.takeAll()) {
      const failure = this.#failures.get(record)!
      if (isAtFault(record, failure)) verdict.atFault.push({ record, wait: failure.wait })
      else if (failure.own) verdict.others.push(record)
      else verdict.unsent.push(record)
      if (proven && failure.own && failure.aloneAt !== undefined) this.#aloneBefore.add(record)
    }
    this.#confirming = false
    this.#last = undefined
    this.#failures.clear()
    return verdict
  }

  /** `again`: another record is to be sent at once, unless this was the second one, because the next probe is far away. */
  #probeFailed(probe: FailedRecord, { own, again, now }: { own: boolean; again: boolean; now: number }): void {
    if (this.#confirming && probe.record === this.#last) this.#confirming = own
    else this.#confirming = own && again && !this.#confirming
    this.#keep(probe, { own, aloneAt: now })
  }

  #keep({ record, wait }: FailedRecord, { own, aloneAt }: Omit<ProbeFailure, 'wait'>): void {
    const before = this.#failures.get(record)
    this.#failures.delete(record)
    this.#failures.set(record, { own, aloneAt: aloneAt ?? before?.aloneAt, wait })
    this.#last = record
    this.tried.putBack(record)
  }

  #takeFirstTried(): Pending | undefined {
    for (const record of this.#failures.keys()) {
      // The record may have been shed.
      if (record.heapIndex < 0) continue
      this.tried.remove(record)
      return record
    }
    return undefined
  }
}
