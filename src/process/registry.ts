import type { DrainMode } from '../control/control-block.js'
import type { Ledger } from '../delivery/ledger.js'
import type { RejectedMessage } from '../diagnostics/channel-messages.js'
import { hostGlobal } from '../runtime/host.js'
import type { Capture } from './capture.js'
import { installEnding } from './ending.js'
import type { LineHolder } from './held-lines.js'
import { ProcessEngines } from './process-engines.js'
import type { QueueCapacity } from './queue-capacity.js'
import type { RegisteredEngine } from './registered-engine.js'

/**
 * The engines of this thread, and through it those of the process. Every copy of the package uses the registry of the copy that was loaded
 * first. That copy may be of another version, so copies share this interface and nothing else. Members may be added, with a higher
 * `version`; none may change or go.
 */
export interface ProcessRegistry {
  readonly version: number
  readonly capture: { notice(): void; begin(capture: Capture): void; end(capture: Capture): void }
  add(engine: RegisteredEngine): void
  /** Release a closed engine. Its counts stay. */
  retire(engine: RegisteredEngine): void
  stats(): Ledger
  /** The most that the engines of the process hold in memory. Members since version 2 may be missing. */
  capacity?(): QueueCapacity
  /** The last rejected records of the process, the newest last. Since version 2. */
  rejections?(): readonly RejectedMessage[]
  /** Tell the level of `setLevel` to threads that do not share this thread's memory. Since version 3. */
  tellLevel?(): void
  /** Sluice is off in this thread: a variable is missing or wrong, for this reason. Undefined: it is on. Since version 4. */
  reportOff?(reason: string | undefined): void
  /** The last such reason of the process. Since version 4. */
  offReason?(): string | undefined
  /** An engine of this thread has accepted a record. Since version 6. */
  accepts?(): void
  /** The lines that these streams hold back are taken before each drain and at the end. Since version 7. */
  holds?(holder: LineHolder): void
  /** A logger has this `appName`, given in code. Since version 8. */
  nameLogger?(appName: string): void
  /** Call this with the `appName` of the first such logger, now or when there is one. Since version 8. */
  whenNamed?(named: (appName: string) => void): void
  /** Drain every engine of the process. Resolves with the ledger, at the deadline at the latest; never rejects. */
  drain(mode: DrainMode, timeoutMs?: number): Promise<Ledger>
  /** Milliseconds that a `close` without a time of its own may take. */
  timeToClose(engine: RegisteredEngine): number
  /** Deliver before the end of the process. Idempotent. */
  watchEnd(): void
}

const key = Symbol.for('sluice.registry')

export function processRegistry(): ProcessRegistry {
  const shared = hostGlobal as { [key]?: ProcessRegistry }
  shared[key] ??= ownRegistry()
  return shared[key]
}

function ownRegistry(): ProcessRegistry {
  const engines = new ProcessEngines()
  return {
    version: 8,
    capture: engines.capture,
    add: (engine) => engines.add(engine),
    retire: (engine) => engines.retire(engine),
    stats: () => engines.stats(),
    capacity: () => engines.capacity(),
    rejections: () => engines.rejections(),
    tellLevel: () => engines.tellLevel(),
    reportOff: (reason) => engines.offReasons.report(reason),
    offReason: () => engines.offReasons.first,
    accepts: () => engines.changeSignals('start'),
    holds: (holder) => engines.held.watch(holder),
    nameLogger: (appName) => engines.loggerName.give(appName),
    whenNamed: (named) => engines.loggerName.whenKnown(named),
    drain: async (mode, timeoutMs) => {
      const ledger = await engines.drain(mode, timeoutMs)
      await engines.changeSignals('rest')
      return ledger
    },
    timeToClose: (engine) => engines.budget.remaining(engine),
    watchEnd: () => installEnding(engines),
  }
}
