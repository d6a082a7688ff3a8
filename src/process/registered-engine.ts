import type { RecordPort } from '../engine/ports.js'
import type { ResolvedOptions } from '../options/options.js'

/** An engine as the registry knows it, whichever copy of this package it comes from. */
export interface RegisteredEngine
  extends Pick<
    RecordPort,
    'id' | 'lanes' | 'memory' | 'stats' | 'flush' | 'park' | 'close' | 'closed' | 'ending' | 'beforeEnd' | 'endSync'
  > {
  /** Memory of its `WorkerPosition`, where it has one. */
  readonly position?: SharedArrayBuffer | undefined
  readonly options: Pick<ResolvedOptions, 'shutdownTimeoutMs' | 'handleSignals' | 'debug' | 'spoolDir'>
}
