import type { Ledger } from '../delivery/ledger.js'
import type { RejectedMessage } from '../diagnostics/channel-messages.js'
import { type DrainOptions, drainTime } from '../engine/ports.js'
import type { SluiceOptions } from '../options/options.js'
import { configure, configureOrOff } from '../process/configure.js'
import { Lease, leaseFor } from '../process/lease.js'
import { processRegistry } from '../process/registry.js'
import { type Tracked, Tracker, type TrackOptions, trackedBy } from './tracker.js'

let own: Sluice | undefined

/**
 * Record one occurrence of the event with this number, configured by the `SLUICE_*` variables. Without `SLUICE_APP_NAME` it has the `appName`
 * of the process's logger; that of a pino target is known as soon as its worker has started.
 *
 * Never throws and never blocks. While variables are missing or wrong it is off, with one line on stderr; it looks for new ones once a second
 * at most. A bad number is counted in `invalid`.
 */
export function track(eventId: number, options?: TrackOptions): void {
  own ??= ofProcess()
  own.track(eventId, options)
}

function ofProcess(): Sluice {
  const lease = leaseFor({}, 'values')
  lease.followLogger()
  return new LeasedSluice(lease)
}

/**
 * Wraps a function so that it records an event each time it returns, or its promise resolves. Nothing is recorded when it throws or
 * rejects. Where it returns a query that runs at its `then`, as those of knex, the event is recorded when the caller's `then` resolves.
 *
 *     const checkout = tracked(events.upgraded, async (cart: Cart) => { … })
 *
 * @throws {TypeError} if `run` is not a function
 */
export function tracked<Run extends Tracked>(eventId: number, run: Run): Run {
  return trackedBy(track, { eventId, run })
}

/**
 * Waits until all that this process has logged and tracked so far is settled, pino's workers included. Resolves with the ledger of the
 * process, after `timeoutMs` + 50 ms at the latest. The default is the option `shutdownTimeoutMs`, the longest if engines differ. Never
 * rejects.
 */
export function flush(options?: DrainOptions): Promise<Ledger> {
  return drain('flush', options)
}

/** Flushes, then releases every engine of the process, pino's workers included. Later records are dropped and counted as `closed`. */
export function close(options?: DrainOptions): Promise<Ledger> {
  return drain('close', options)
}

function drain(mode: 'flush' | 'close', options: DrainOptions | undefined): Promise<Ledger> {
  return processRegistry().drain(mode, drainTime(options).timeoutMs)
}

/** The ledger of the whole process, now. */
export function stats(): Ledger {
  return processRegistry().stats()
}

/**
 * The last rejected records of the whole process, pino's workers included: at most 100, the newest last. Each has the reason, and the
 * record's JSON, cut after 4,096 characters. They are held in memory, with and without a spool. After `flush()` they are complete; before,
 * a record that another thread delivers may be missing for a moment. Never throws.
 */
export function rejections(): readonly RejectedMessage[] {
  return [...(processRegistry().rejections?.() ?? [])]
}

export type { DrainOptions } from '../engine/ports.js'

/** One configured instance of Sluice, for value events. */
export interface Sluice extends AsyncDisposable {
  /** Record one occurrence of an event. Never throws, never blocks. */
  track(eventId: number, options?: TrackOptions): void
  /** Wraps a function so that it records an event each time it returns or its promise resolves; see `tracked` of `sluice`. */
  tracked<Run extends Tracked>(eventId: number, run: Run): Run
  /** Waits until all records accepted so far are settled, but no longer than the deadline. Resolves with the ledger. Never rejects. */
  flush(options?: DrainOptions): Promise<Ledger>
  /** Flushes, then releases everything. Idempotent. Never rejects. */
  close(options?: DrainOptions): Promise<Ledger>
  /** The ledger now. */
  stats(): Ledger
  /** Of the last 100 rejected records of the process, the records of this instance's lanes; see `rejections` of `sluice`. */
  rejections(): readonly RejectedMessage[]
}

/**
 * Makes an instance of Sluice. Options that are left out come from the environment. With nothing configured at all it is off, and its
 * methods do nothing.
 *
 * @throws {ConfigError} for an option or variable that is invalid, missing or unknown
 */
export function createSluice(options: SluiceOptions = {}): Sluice {
  return new LeasedSluice(new Lease(configure(options, 'values'), () => configureOrOff(options, 'values')))
}

class LeasedSluice implements Sluice {
  readonly #lease: Lease
  readonly #tracker: Tracker

  constructor(lease: Lease) {
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

  rejections(): readonly RejectedMessage[] {
    const { lanes } = this.stats()
    return rejections().filter(({ kind, bucket }) => lanes.some((lane) => lane.kind === kind && lane.bucket === bucket))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
