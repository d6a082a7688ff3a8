import { stderrQuietMs } from '../diagnostics/stderr.js'
import { systemClock } from '../runtime/clock.js'
import type { ProcessEngines } from './process-engines.js'
import type { RegisteredEngine } from './registered-engine.js'
import { undelivered } from './remote-engines.js'

/** Knows if the end of the process by a signal would cost records, or words about them. */
export class SignalNeed {
  readonly #engines: ProcessEngines
  /** Records that were dropped or rejected, and the moment at which all of them have been told. */
  #losses = 0
  #toldBy = Number.NEGATIVE_INFINITY

  constructor(engines: ProcessEngines) {
    this.#engines = engines
  }

  /**
   * Lines reach the workers of other threads without a word to this one, so that each line that has been written to them may still be on its
   * way. A debugging ledger is shown at the end, a spool is left in order, and what throttles hold back is told then, or after a minute.
   */
  get exists(): boolean {
    const { remote, local } = this.#engines
    const ledger = this.#engines.stats()
    const losses = ledger.rejected + Object.values(ledger.dropped).reduce((sum, count) => sum + count, 0)
    if (losses !== this.#losses) this.#toldBy = systemClock.now() + stderrQuietMs
    this.#losses = losses
    if (undelivered(ledger) > 0 || systemClock.now() < this.#toldBy) return true
    return this.#engines.awaitsWorkers || remote.known.length > 0 || [...local].some(tellsAtEnd)
  }
}

function tellsAtEnd(engine: RegisteredEngine): boolean {
  return engine.options.debug || engine.options.spoolDir !== undefined
}
