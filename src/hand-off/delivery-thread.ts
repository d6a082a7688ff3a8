import type { Standstill } from '../engine/worker-position.js'
import { counted } from '../errors/counted.js'
import type { ResolvedOptions } from '../options/options.js'
import type { EnginePlan, WorkerMessage } from './protocol.js'

/** A failed worker, as one of its engines sees it. */
export interface FailedWorker {
  /** For people. */
  readonly reason: string
  /** The work at which it stopped; undefined if it worked for another engine, or not at all. */
  readonly at: Standstill['at'] | undefined
}

/** Records that a failed worker had taken and not settled. */
export interface LostRecords {
  /** Records that were only in its memory. */
  readonly lost: number
  /** Records that are on disk. */
  readonly spooled: number
}

/** The effect of a failure, for people. */
export function effectOf({ lost, spooled }: LostRecords, standstill: Standstill | undefined): string {
  const parts = [
    lost > 0 ? `${recordsTaken(lost)} are lost` : '',
    spooled > 0 ? `${recordsTaken(spooled)} are left to the spool` : '',
    standstill?.at === 'line' ? 'the line at which it stopped is given up' : '',
    standstill?.at === 'disk' ? 'it waited for the disk of the spool, which is left alone until it answers' : '',
  ]
  return parts.map((part) => (part === '' ? '' : `; ${part}`)).join('')
}

function recordsTaken(count: number): string {
  return `${counted(count, 'record')} that it had taken`
}

/** The application's side of one engine in the delivery thread. Its methods never throw. */
export interface EngineClient {
  readonly options: Pick<ResolvedOptions, 'spoolDir'>
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
  /** Hand over whole lines. The bytes must not change. */
  write(engine: number, lines: Buffer): void
  /** A drain waits: start a worker soon, even after many failures. */
  hurry(): void
  /** Block this thread until the worker has started. False when it has not within this time. */
  startsSync(withinMs: number): boolean
  /** Block this thread until the worker has taken everything. False when it has not within this time, or is stuck. */
  handOverSync(withinMs: number): boolean
  /** At the end of the process: the same, with one more worker if the present one is stuck. */
  reachSync(withinMs: number): boolean
  /** Receive what the worker has told so far, when the event loop has stopped. */
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
