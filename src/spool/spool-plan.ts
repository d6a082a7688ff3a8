import type { LaneName } from '../delivery/ledger.js'
import type { Clock } from '../runtime/clock.js'

export interface SpoolPlan {
  /** The folder that engines share; made when it is first needed. */
  readonly dir: string
  /** Of the service that the records are meant for. */
  readonly url: string
  readonly lanes: readonly LaneName[]
  /** Bound of the segments of this engine, with those that it has adopted. */
  readonly maxBytes: number
  /** How long a record may be on disk. */
  readonly maxAgeMs: number
  /** Wait for the disk after each write: what was accepted survives not only the process, but the power. */
  readonly sync: boolean
  readonly clock: Clock
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  readonly random: () => number
  /** Says what somebody should know. */
  readonly tell: (text: string) => void
  /** Calls a task at the end of this turn of the event loop. @default queueMicrotask */
  readonly defer?: (task: () => void) => void
}
