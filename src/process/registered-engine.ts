import type { Drainable, EndParticipant, EngineIdentity } from '../engine/ports.js'
import type { ResolvedOptions } from '../options/options.js'

type Limit = 'maxQueueRecords' | 'maxQueueBytes'

/** An engine in the registry. It may come from another copy of this package. */
export interface RegisteredEngine extends Omit<EngineIdentity, 'options'>, Drainable, EndParticipant {
  /** Memory of its `WorkerPosition`, if it has one. */
  readonly position?: SharedArrayBuffer | undefined
  readonly options: Pick<ResolvedOptions, 'shutdownTimeoutMs' | 'handleSignals' | 'debug' | 'spoolDir' | Limit>
}
