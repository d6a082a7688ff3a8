import type { UsableConnection } from '../delivery/sender.js'

/** A connection that was idle for this time is not used again: a NAT may have forgotten it, and then the next request gets no answer. */
const longestIdleMs = 15_000

/** A connection that was idle for this time may be lost without a sign. A connection in use had an answer a moment ago. */
const doubtfulMs = 1000

/** The connections that a batch goes out on have been idle for less than this. */
export const idleBelowMs = { any: longestIdleMs, lively: doubtfulMs, new: 0 } as const satisfies Record<
  UsableConnection,
  number
>

/** Time for an idle connection where the server says nothing. Servers keep one for 5 s at least. */
const unspokenMs = 4000
/** An idle connection is closed this long before the server closes it, so that no request meets its end. */
const marginMs = 2000

/** How long an idle connection is kept, where the server says that it keeps it for `toldMs`. */
export function keptIdleMs(toldMs: number | undefined): number {
  return toldMs === undefined ? unspokenMs : Math.min(toldMs - Math.min(marginMs, toldMs / 2), longestIdleMs)
}
