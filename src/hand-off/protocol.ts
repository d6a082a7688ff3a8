import type { SluiceErrorCode } from '../errors/sluice-error.js'
import type { ResolvedOptions } from '../options/options.js'
import { placedFolder } from '../spool/spool-folder.js'

/** The delivery worker is started with this. */
export interface WorkerPlan {
  /** One word, see {@link workerStates}. */
  readonly state: SharedArrayBuffer
  /** See `Heartbeat`. */
  readonly heartbeat: SharedArrayBuffer
  /** See `WorkerPosition`. */
  readonly position: SharedArrayBuffer
}

/** An engine in the worker is opened with this. Functions and the wrappers of secrets cannot cross. */
export interface EnginePlan {
  readonly options: Omit<ResolvedOptions, 'apiKey' | 'accessToken' | 'onError'>
  readonly apiKey: string
  /** Memory of the ledger: the same for every worker that serves this engine. */
  readonly memory: SharedArrayBuffer
  /** One word, see {@link engineStates}. */
  readonly state: SharedArrayBuffer
  /** The spool's disk has held a worker: no spool until the disk answers somebody else. */
  readonly diskIsStalled: boolean
}

/** How far the worker is. A halted one takes no more lines. */
export const workerStates = { starting: 0, reading: 1, halted: 2 } as const

/** Says at the end of the process, when nobody hears messages, that an engine is closed. */
export const engineStates = { open: 0, closed: 1 } as const

/** Asks the worker for a sign of life. */
export const heartbeatQuestion = 'sluice.heartbeat'

/** Opens an engine. It may reach the worker after the first lines for that engine. */
export interface OpenEngine {
  readonly type: 'sluice.open'
  readonly engine: number
  readonly plan: EnginePlan
}

/** An event of thread-stream's stream, from the engine with this number. */
export type WorkerMessage = { readonly engine: number } & (
  | { readonly type: 'drained'; readonly request: number }
  | { readonly type: 'error'; readonly code: SluiceErrorCode; readonly text: string }
  | { readonly type: 'channel'; readonly name: string; readonly message: unknown }
)

/** From the options to what can cross into the worker. */
export function enginePlan(
  { apiKey, accessToken: _token, onError: _listener, spoolDir, ...rest }: ResolvedOptions,
  setting: Pick<EnginePlan, 'memory' | 'state' | 'diskIsStalled'>,
): EnginePlan {
  // The ledger that counts is the one of the application's side.
  const options = { ...rest, debug: false, spoolDir: spoolDir === undefined ? undefined : placedFolder(spoolDir) }
  return { options, apiKey: apiKey.reveal(), ...setting }
}
