import type { Batch } from './batch.js'
import type { Flight, Lane } from './lane.js'
import type { Losses } from './observer.js'
import type { Refusal, Rejection } from './rules.js'
import type { Outcome } from './sender.js'

/** What the machine is told. */
export type Event =
  /** Records have come to the lane in this turn. */
  | { readonly type: 'came'; readonly lane: Lane }
  /** The outcome of `count` records of a batch, from `index` on. */
  | {
      readonly type: 'settled'
      readonly flight: Flight
      readonly index: number
      readonly count: number
      readonly outcome: Outcome
    }
  /** From here on the lanes gather for `ms`; 0: what they have gathered goes out. */
  | { readonly type: 'gather'; readonly ms: number }
  /** One send of a batch has ended. */
  | { readonly type: 'done'; readonly flight: Flight }
  /** The bytes of a batch are on disk, and cannot be read now. */
  | { readonly type: 'later'; readonly flight: Flight }
  /** The moment of `nextTick` has come. */
  | { readonly type: 'tick' }
  /** A drain begins. */
  | {
      readonly type: 'drain'
      readonly id: number
      readonly deadline: number
      /** Nothing comes after it. */
      readonly last: boolean
      /** A service at whose address nothing has ever listened is not waited for. */
      readonly brief: boolean
    }
  /** The deadline of a drain has come. */
  | { readonly type: 'drainOver'; readonly id: number }
  /** The answers to all requests in flight come too late. */
  | { readonly type: 'abandon' }
  /** Send nothing any more. */
  | { readonly type: 'stop' }

/** What the machine wants done. */
export type Command =
  /** `again`: the records of the flight that are open, once more, on a connection that lives. */
  | { readonly type: 'send'; readonly flight: Flight; readonly again?: { batch: Batch; places: readonly number[] } }
  | { readonly type: 'drained'; readonly id: number }
  | { readonly type: 'tell'; readonly report: Report }

/** What an observer is told, when the machine is whole again. */
export type Report =
  | { readonly type: 'rejected'; readonly lane: Lane; readonly rejection: Rejection; readonly body: string }
  | { readonly type: 'paused'; readonly lane: Lane; readonly refusal: Refusal }
  | { readonly type: 'unreachable' }
  | { readonly type: 'outage'; readonly lane: Lane; readonly reason: string }
  | { readonly type: 'resumed'; readonly lane: Lane }
  | { readonly type: 'recovered'; readonly lane: Lane; readonly losses: Losses }
