import type { MessagePort } from 'node:worker_threads'
import type { ResolvedOptions } from '../options/options.js'
import type { News } from './news.js'

// The messages between the application's thread and the delivery worker. Records go by a pipe, drains by a control block.

/** The delivery worker is started with this. */
export interface WorkerPlan {
  /** One word, see {@link workerStates}. */
  readonly state: SharedArrayBuffer
  /** See `Heartbeat`. */
  readonly heartbeat: SharedArrayBuffer
  /** See `WorkerPosition`. */
  readonly position: SharedArrayBuffer
  /** Takes the messages to the application's thread, which can read them even when its event loop has stopped. */
  readonly news: MessagePort
}

/** How far the worker is. A halted worker takes no more records. */
export const workerStates = { starting: 0, running: 1, halted: 2 } as const

/** Asks the worker to count an answer. */
export const heartbeatQuestion = 'sluice.heartbeat'

/** Opens an engine. */
export interface OpenEngine {
  readonly type: 'sluice.open'
  readonly engine: number
  readonly plan: EnginePlan
}

/** Memory that every worker which serves an engine uses, one after another. */
export interface EngineMemory {
  /** The ledger. */
  readonly memory: SharedArrayBuffer
  /** The pipe of its records. */
  readonly pipe: SharedArrayBuffer
  /** A control block for the drains that the application's thread asks for. */
  readonly drains: SharedArrayBuffer
}

/** The options of an engine in the worker. Functions and the wrappers of secrets cannot cross. */
export interface EnginePlan extends EngineMemory {
  readonly options: Omit<ResolvedOptions, 'apiKey' | 'onError' | 'waitUntil'>
  readonly apiKey: { readonly text: string; readonly file: string | undefined }
  /** Styles of loggers as JSON, by number. Others come by the pipe. */
  readonly styles: readonly string[]
  /** True where a worker got stuck at the disk of the spool: no spool until a separate process has written to that disk. */
  readonly diskIsStalled: boolean
}

export function enginePlan(
  { apiKey, onError: _listener, waitUntil: _waitUntil, ...rest }: ResolvedOptions,
  setting: Omit<EnginePlan, 'options' | 'apiKey'>,
): EnginePlan {
  // The application's side prints the ledger: only that one is complete.
  const options = { ...rest, debug: false }
  return { options, apiKey: { text: apiKey.reveal(), file: apiKey.file }, ...setting }
}

/** A message to the application's thread, about the engine with this number. */
export interface WorkerMessage {
  readonly engine: number
  readonly news: News
}
