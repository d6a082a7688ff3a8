import type { Ledger } from '../delivery/ledger.js'
import { type DrainOptions, drainTime } from '../engine/ports.js'
import type { SluiceOptions } from '../options/options.js'
import { configure } from '../process/configure.js'
import { type EngineLease, leaseEngine } from '../process/engine-lease.js'
import { type Tracked, trackedBy } from './tracked.js'
import { Tracker, type TrackOptions } from './tracker.js'

export type { DrainOptions } from '../engine/ports.js'

/** One set-up of Sluice: where value events go, and the account of them. */
export interface Sluice extends AsyncDisposable {
  /** Record one occurrence of an event. Never throws, never blocks. */
  track(eventId: number, options?: TrackOptions): void
  /** The same function, which records an event when it returns or its promise resolves; see `tracked` of `sluice`. */
  tracked<Run extends Tracked>(eventId: number, run: Run): Run
  /** Wait until what was accepted so far is settled, until the deadline at most. Resolves with the ledger; never rejects. */
  flush(options?: DrainOptions): Promise<Ledger>
  /** Flush, then release everything. Idempotent; never rejects. */
  close(options?: DrainOptions): Promise<Ledger>
  /** The ledger now. */
  stats(): Ledger
}

/**
 * Set up Sluice explicitly. Options that are left out come from the environment; with nothing configured at all it is off,
 * and its methods do nothing.
 *
 * @throws {ConfigError} for an option or variable that is invalid, missing or unknown
 */
export function createSluice(options: SluiceOptions = {}): Sluice {
  return new LeasedSluice(leaseEngine(configure(options, 'values')))
}

class LeasedSluice implements Sluice {
  readonly #lease: EngineLease
  readonly #tracker: Tracker

  constructor(lease: EngineLease) {
    this.#lease = lease
    this.#tracker = new Tracker(lease)
  }

  track(eventId: number, options?: TrackOptions): void {
    this.#tracker.track(eventId, options)
  }

  tracked<Run extends Tracked>(eventId: number, run: Run): Run {
    return trackedBy((event) => this.track(event), { eventId, run })
  }

  flush(options?: DrainOptions): Promise<Ledger> {
    return this.#lease.engine.flush(drainTime(options))
  }

  async close(options?: DrainOptions): Promise<Ledger> {
    await this.#lease.release(drainTime(options))
    return this.stats()
  }

  stats(): Ledger {
    return this.#lease.engine.stats()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
