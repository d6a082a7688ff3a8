import type { Ledger } from '../delivery/ledger.js'
import { printLine } from '../diagnostics/stderr.js'
import { type DrainOptions, drainTime } from '../engine/ports.js'
import { reasonOf } from '../errors/text-of.js'
import type { SluiceOptions } from '../options/options.js'
import { currentCapture } from '../process/capture.js'
import { configure } from '../process/configure.js'
import { type EngineLease, leaseEngine } from '../process/engine-lease.js'
import { processRegistry } from '../process/registry.js'
import { type Tracked, Tracker, type TrackOptions, trackedBy } from './tracker.js'

let own: Sluice | undefined
let misconfigured = false

/**
 * Record one occurrence of the event with this number, configured by the `SLUICE_*` variables.
 *
 * Never throws and never blocks. A configuration that cannot be used is told once on stderr and turns `track` off;
 * a bad number is counted in `invalid`.
 */
export function track(eventId: number, options?: TrackOptions): void {
  if (misconfigured && currentCapture() === undefined) return
  if (own === undefined) {
    try {
      own = createSluice()
    } catch (error) {
      misconfigured = true
      printLine(`track is off: ${reasonOf(error)}`)
      return
    }
  }
  own.track(eventId, options)
}

/**
 * The same function, which records an event each time that it returns, or that the promise which it returns resolves; not when it
 * throws or rejects.
 *
 *     const checkout = tracked(events.upgraded, async (cart: Cart) => { … })
 *
 * @throws {TypeError} when `run` is no function
 */
export function tracked<Run extends Tracked>(eventId: number, run: Run): Run {
  return trackedBy(track, { eventId, run })
}

/**
 * Wait until everything that this process has logged and tracked so far is settled, pino's workers included. Resolves with the
 * ledger of the process, by `timeoutMs` (default: the option `shutdownTimeoutMs`, the longest where engines differ) + 50 ms at the
 * latest; never rejects.
 */
export function flush(options?: DrainOptions): Promise<Ledger> {
  return drain('flush', options)
}

/** As `flush`, then release every engine of the process, pino's workers included. What is logged afterwards is counted as `closed`. */
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
