import type { Standstill } from '../engine/worker-position.js'
import type { ResolvedOptions } from '../options/options.js'
import type { EnginePlan, WorkerMessage } from './protocol.js'

/** A worker is gone, and with it what it held. */
export interface FailedWorker {
  /** For people. */
  readonly reason: string
  /** Where the worker stood, if it worked for this engine then. */
  readonly at: Standstill['at'] | undefined
}

/** Records that a worker held when it was gone. */
export interface LostRecords {
  readonly lost: number
  /** They are on disk. */
  readonly spooled: number
}

/** One engine in the delivery thread, as the application's side stands for it. None of its methods throws. */
export interface EngineClient {
  readonly options: Pick<ResolvedOptions, 'spoolDir'>
  /** True while the worker has anything to do for it. */
  readonly unsettled: boolean
  /** The engine is opened with this, anew in each worker. */
  plan(setting: { readonly diskIsStalled: boolean }): EnginePlan
  /** A worker takes lines from now on. */
  attached(): void
  /** No worker takes lines until `attached` is called again. */
  detached(): void
  /** Called after `detached`, when the worker writes nothing any more. */
  workerFailed(worker: FailedWorker): LostRecords
  /** There will never be a worker. */
  cannotStart(): void
  received(message: WorkerMessage): void
}

/**
 * The port of a hand-off to the worker that delivers: one for the process, whatever the number of engines. Engines are named by a number.
 * Its methods never throw.
 */
export interface DeliveryThread {
  /** Make an engine known. Nothing else may be asked for it before. */
  join(client: EngineClient): number
  /** Open the engine in the worker; a worker is started where there is none. */
  connect(engine: number): void
  /** Hand over whole lines. The bytes must not change. */
  write(engine: number, lines: Buffer): void
  /** Somebody waits for a drain: try at once to have a worker. */
  hurry(): void
  /** Hold this thread until the worker has taken everything; false when it is stuck. */
  handOverSync(): boolean
  /** At the end of the process: hold this thread until a worker answers, another one if need be; false when none does in time. */
  reachSync(timeoutMs: number): boolean
  /** Nothing comes for the engine any more. The worker ends with the last one. */
  leave(engine: number): Promise<void>
}
