import type { DrainMode } from '../control/control-block.js'
import type { Ledger } from '../delivery/ledger.js'
import { drainGraceMs } from '../hand-off/drain-times.js'
import { after, setImmediate, systemClock } from '../runtime/clock.js'
import type { EarlyWorkers } from './early-workers.js'
import type { HeldLines } from './held-lines.js'
import type { ThreadStreams } from './pino-streams.js'
import type { RegisteredEngine } from './registered-engine.js'
import { answerMs, type RemoteEngines, undelivered } from './remote-engines.js'
import type { ShutdownBudget } from './shutdown-budget.js'

interface ProcessDrainsPlan {
  /** The engines of this thread, and the time and the ledger of the process. */
  readonly engines: {
    readonly local: Iterable<RegisteredEngine>
    readonly budget: ShutdownBudget
    readonly shutdownTimeoutMs: number
    stats(): Ledger
  }
  readonly remote: RemoteEngines
  readonly streams: ThreadStreams
  readonly early: EarlyWorkers
  readonly held: HeldLines
}

/** Drains of all engines of the process. */
export class ProcessDrains {
  readonly #plan: ProcessDrainsPlan

  constructor(plan: ProcessDrainsPlan) {
    this.#plan = plan
  }

  /** Drain all that was logged before the call. Resolves with the ledger of the process, at the deadline at the latest; never rejects. */
  async drain(
    mode: DrainMode,
    { timeoutMs, brief }: { readonly timeoutMs: number; readonly brief: boolean },
  ): Promise<Ledger> {
    const { engines, remote, streams, early, held } = this.#plan
    const deadline = systemClock.now() + timeoutMs
    const { delivered } = engines.stats()
    const left = () => Math.max(0, deadline - systemClock.now())
    // Engines keep the deadline themselves. An answer from another thread may take a moment longer, or never come.
    const expiry = after(timeoutMs + drainGraceMs(mode, timeoutMs) + answerMs, true)
    const within = (work: Promise<unknown>) => Promise.race([work, expiry.over])

    const ignoreLoggers = streams.watchLoggers()
    // Node announces a worker in the tick after its start.
    await new Promise((resolve) => setImmediate(resolve))
    // Half of the time is left for the delivery.
    await Promise.all([within(early.drain(left(), mode)), held.arrive(left() / 2)])
    const handOver = streams.handedOver()
    const deadlineTimer = after(left())
    await within(Promise.race([handOver.done, deadlineTimer.over]))
    deadlineTimer.cancel()
    const time = { timeoutMs: left(), brief }
    const local = [...engines.local].map((engine) => engine[mode](time))
    await within(Promise.all([...local, remote.drain(mode, { engines: remote.known, ...time })]))
    expiry.cancel()
    ignoreLoggers()
    handOver.release()
    const ledger = engines.stats()
    const inVain = left() === 0 && undelivered(ledger) > 0 && ledger.delivered === delivered
    if (mode === 'flush' && inVain && timeoutMs >= engines.shutdownTimeoutMs) engines.budget.flushedInVain()
    return ledger
  }
}
