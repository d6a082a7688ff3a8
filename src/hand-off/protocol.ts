import type { MessagePort } from 'node:worker_threads'
import type { EndStep } from '../engine/ports.js'
import type { ResolvedOptions } from '../options/options.js'
import type { Clock } from '../runtime/clock.js'
import { endGraceMs } from './drain-requests.js'
import type { News } from './news.js'

// Everything but records that crosses between the application's thread and the delivery worker. For the records see frames.ts.

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

/** How far the worker is. A halted worker takes no more lines. */
export const workerStates = { starting: 0, reading: 1, halted: 2 } as const

/** Asks the worker to count an answer. */
export const heartbeatQuestion = 'sluice.heartbeat'

/** Opens an engine. The first lines for that engine may reach the worker earlier. */
export interface OpenEngine {
  readonly type: 'sluice.open'
  readonly engine: number
  readonly plan: EnginePlan
}

/** The options of an engine in the worker. Functions and the wrappers of secrets cannot cross. */
export interface EnginePlan {
  readonly options: Omit<ResolvedOptions, 'apiKey' | 'onError' | 'waitUntil'>
  readonly apiKey: { readonly text: string; readonly file: string | undefined }
  /** Memory of the ledger. Every worker that serves this engine uses the same. */
  readonly memory: SharedArrayBuffer
  /** Memory of the engine's {@link ClosedFlag}. */
  readonly closed: SharedArrayBuffer
  /** True where a worker got stuck at the disk of the spool: no spool until a separate process has written to that disk. */
  readonly diskIsStalled: boolean
}

export function enginePlan(
  { apiKey, onError: _listener, waitUntil: _waitUntil, ...rest }: ResolvedOptions,
  setting: Pick<EnginePlan, 'memory' | 'closed' | 'diskIsStalled'>,
): EnginePlan {
  // The application's side prints the ledger: only that one is complete.
  const options = { ...rest, debug: false }
  return { options, apiKey: { text: apiKey.reveal(), file: apiKey.file }, ...setting }
}

/** A message to the application's thread, from the engine with this number. */
export type WorkerMessage = { readonly engine: number } & (
  | { readonly type: 'drained'; readonly request: number }
  | { readonly type: 'news'; readonly news: News }
)

/** Most time that the worker has after the deadline of a close. */
const longestGraceMs = 500
const open = 0
const closed = 1

/** Shows the application's thread that an engine in the worker is closed, at the end of the process, when no message is received any more. */
export class ClosedFlag {
  readonly memory: SharedArrayBuffer
  readonly #word: Int32Array

  constructor(memory = new SharedArrayBuffer(4)) {
    this.memory = memory
    this.#word = new Int32Array(memory)
  }

  /** Called by the worker. */
  raise(): void {
    Atomics.store(this.#word, 0, closed)
    Atomics.notify(this.#word, 0)
  }

  /** Called by the application's thread: waits for the end of a close that may take `timeoutMs`. The worker keeps that deadline itself. */
  wait(clock: Clock, timeoutMs: number): EndStep {
    const graceMs = Math.min(longestGraceMs, Math.max(endGraceMs, timeoutMs / 4))
    const deadline = clock.now() + timeoutMs + graceMs
    return (waitMs) => {
      const left = deadline - clock.now()
      if (left > 0) Atomics.wait(this.#word, 0, open, Math.min(left, waitMs))
      return left <= 0 || Atomics.load(this.#word, 0) === closed
    }
  }
}
