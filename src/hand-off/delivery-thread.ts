import { counted } from '../errors/counted.js'
import type { ResolvedOptions } from '../options/options.js'
import type { EnginePlan, WorkerMessage } from './protocol.js'

/** A failed worker, as one of its engines sees it. */
export interface FailedWorker {
  /** For people. */
  readonly reason: string
}

/** Records that a failed worker had taken and not settled. */
export interface LostRecords {
  /** Records that were only in its memory. */
  readonly lost: number
  /** Records that are on disk. */
  readonly spooled: number
  /** The record that it was taking when it stopped. */
  readonly unreadable: number
}

/** The effect of a failure, for people. */
export function effectOf({ lost, spooled, unreadable }: LostRecords, { atDisk }: { readonly atDisk: boolean }): string {
  const parts = [
    lost > 0 ? `${recordsTaken(lost)} are lost` : '',
    spooled > 0 ? `${recordsTaken(spooled)} are left to the spool` : '',
    unreadable > 0 ? 'the line at which it stopped is given up' : '',
    atDisk ? 'it waited for the disk of the spool, which is left alone until it answers' : '',
  ]
  return parts.map((part) => (part === '' ? '' : `; ${part}`)).join('')
}

function recordsTaken(count: number): string {
  return `${counted(count, 'record')} that it had taken`
}

/** The application's side of one engine in the delivery thread. Its methods never throw. */
export interface EngineClient {
  readonly options: Pick<ResolvedOptions, 'spoolDir'>
  /** The place in its pipe of the record that a worker takes; undefined while it takes none. */
  readonly taking: number | undefined
  /** True while the worker has records of this engine, in memory or on disk, or lines for it are in transit. */
  readonly busy: boolean
  /** The options with which each new worker opens the engine. */
  plan(setting: { readonly diskIsStalled: boolean }): EnginePlan
  /** A worker takes lines from now on. */
  attached(): void
  /** No worker takes lines until the next `attached`. */
  detached(): void
  /** Called after `detached`, when the worker's thread is gone. Drops what was lost with it. */
  workerFailed(worker: FailedWorker): LostRecords
  /** No worker can be started in this process. Deliver in the application's thread. */
  cannotStart(): void
  received(message: WorkerMessage): void
}

/**
 * The worker that delivers, as a hand-off sees it: one for the process, whatever the number of engines. Engines have numbers. Its methods
 * never throw.
 */
export interface DeliveryThread {
  /** Register an engine. Returns its number for all other methods. */
  join(client: EngineClient): number
  /** Open the engine in the worker. Starts a worker where there is none. */
  connect(engine: number): void
  /** There is work: watch whether the worker answers. */
  watch(): void
  /** A drain waits: start a worker soon, even after many failures. */
  hurry(): void
  /** Block this thread until the worker has started. False when it has not within this time. */
  startsSync(withinMs: number): boolean
  /** Block this thread until the worker answers. False when it does not within this time, or is stuck. */
  answersSync(withinMs: number): boolean
  /** At the end of the process: the same, with one more worker if the present one is stuck. */
  reachSync(withinMs: number): boolean
  /** Receive what the worker has told so far, without the event loop. */
  catchUp(): void
  /** Remove the engine. The worker ends with the last one. */
  leave(engine: number): Promise<void>
}

/** The delivery worker, as the end of the process sees it. */
interface ThreadAtEnd {
  /** True while it waits for a disk: Node cannot end the process then. */
  readonly keepsProcess: boolean
}

let announced: ThreadAtEnd | undefined

/** Called with the thread that was made for the first engine. */
export function announceThread(thread: ThreadAtEnd): void {
  announced = thread
}

/** The delivery thread, if any engine has asked for it. */
export function announcedThread(): ThreadAtEnd | undefined {
  return announced
}
