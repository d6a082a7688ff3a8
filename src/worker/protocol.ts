import type { ResolvedOptions } from '../options/options.js'

/** What the worker is started with. Functions and the wrappers of secrets cannot cross. */
export interface WorkerPlan {
  readonly options: Omit<ResolvedOptions, 'apiKey' | 'accessToken' | 'onError'>
  readonly apiKey: string
  readonly memory: SharedArrayBuffer
  /** One word, see {@link workerStates}. */
  readonly state: SharedArrayBuffer
  /** See `Pulse`. */
  readonly pulse: SharedArrayBuffer
}

/** How far the worker is. */
export const workerStates = { starting: 0, reading: 1, closed: 2, halted: 3 } as const

/** Asks the worker whether it still lives. */
export const pulseQuestion = 'sluice.pulse'

/** What the worker says; an event of thread-stream's stream. */
export type WorkerMessage =
  | { readonly type: 'drained'; readonly request: number }
  | { readonly type: 'error'; readonly code: string; readonly text: string }
  | { readonly type: 'channel'; readonly name: string; readonly message: unknown }
