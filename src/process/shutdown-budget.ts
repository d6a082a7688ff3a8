import type { Ledger } from '../delivery/ledger.js'
import { endGraceMs } from '../hand-off/drain-times.js'
import { processNow } from '../runtime/shared-state.js'

/** A late engine has this share of its time: earlier waits served the records of others. */
const leastShare = 0.25
/** An end within this time after a flush that delivered nothing belongs to that flush. */
const soonMs = 1000

/** An engine, as the budget knows it. */
export interface Budgeted {
  readonly options: { readonly shutdownTimeoutMs: number }
  stats(): Pick<Ledger, 'accepted'>
}

interface Grant {
  /** Count of the records that it is for. */
  readonly accepted: number
  /** On the clock. */
  readonly until: number
}

export interface ShutdownBudgetPlan {
  /** Monotonic milliseconds, the same in all threads. @default the machine's */
  readonly now?: () => number
  /** The moment at which the end of the process began. */
  readonly end: { readonly beganAt: number | undefined; begin(at: number): void }
}

/**
 * The time that engines have to deliver before the process ends. All of it runs at once: the end of the process takes the longest
 * `shutdownTimeoutMs`, and not their sum.
 *
 * A grant is for the records that an engine has accepted so far. Their time runs on, however often it is asked for. Records that come later
 * have a time for themselves, which is the rest of the end of the process, and a quarter of `shutdownTimeoutMs` at least.
 */
export class ShutdownBudget {
  readonly #now: () => number
  readonly #end: ShutdownBudgetPlan['end']
  readonly #grants = new WeakMap<Budgeted, Grant>()
  #flushedInVainAt = Number.NEGATIVE_INFINITY

  constructor({ now = processNow, end }: ShutdownBudgetPlan) {
    this.#now = now
    this.#end = end
  }

  /** The process ends: the time of all its engines runs from now on, or since that moment. Only the first call counts. */
  begin(shutdownTimeoutMs: number, since = Number.POSITIVE_INFINITY): void {
    const gone = shutdownTimeoutMs - this.allotment(shutdownTimeoutMs)
    this.#end.begin(Math.min(since, this.#now() - gone))
  }

  /** Start the time of the records that this engine has accepted. Gives the milliseconds that are left of it. */
  grant(engine: Budgeted, timeoutMs?: number): number {
    const leftMs = timeoutMs ?? this.remaining(engine)
    this.#grants.set(engine, { accepted: engine.stats().accepted, until: this.#now() + leftMs })
    return leftMs
  }

  /** Milliseconds that this engine has left: those of its grant, unless it has accepted records since. */
  remaining(engine: Budgeted): number {
    const grant = this.#grants.get(engine)
    if (grant?.accepted !== engine.stats().accepted) return this.allotment(engine.options.shutdownTimeoutMs)
    // A timer may end up to a millisecond early: that rest is none.
    return Math.max(0, Math.floor(grant.until - this.#now()))
  }

  /** The drain of a grant is over: its records have had their time. */
  spend(engine: Budgeted): void {
    const grant = this.#grants.get(engine)
    if (grant !== undefined) this.#grants.set(engine, { ...grant, until: Number.NEGATIVE_INFINITY })
  }

  /** A flush had the time of the whole end and delivered nothing: an end that follows at once has a quarter. */
  flushedInVain(): void {
    this.#flushedInVainAt = this.#now()
  }

  /** Milliseconds that an engine with this `shutdownTimeoutMs` has from now on, where nothing was granted to it. */
  allotment(shutdownTimeoutMs: number): number {
    const leastMs = shutdownTimeoutMs * leastShare
    const { beganAt } = this.#end
    if (beganAt === undefined) return this.#hasJustFlushedInVain ? leastMs : shutdownTimeoutMs
    return Math.max(leastMs, shutdownTimeoutMs - (this.#now() - beganAt))
  }

  /** Milliseconds until the last moment of the end, whatever hangs: what is left of its time, and a quarter of all, or {@link endGraceMs}. */
  untilLatest(shutdownTimeoutMs: number): number {
    const goneMs = this.#now() - (this.#end.beganAt ?? this.#now())
    return Math.max(0, shutdownTimeoutMs - goneMs) + Math.max(shutdownTimeoutMs * leastShare, endGraceMs)
  }

  get #hasJustFlushedInVain(): boolean {
    return this.#now() - this.#flushedInVainAt < soonMs
  }
}
