import type { DropReason, LaneName } from './ledger.js'
import type { Losses } from './losses.js'
import type { Outcome } from './sender.js'

/** The port through which delivery tells what somebody should know. What it throws is ignored. */
export interface Observer {
  /** `count` records were given up. */
  dropped(lane: LaneName, loss: { reason: DropReason; count: number }): void
  /** The service refused one record for what it contains. */
  rejected(lane: LaneName, refusal: Outcome & { type: 'rejected' }): void
  /** The lane holds its records until somebody mends the key, bucket, plan or URL. */
  paused(lane: LaneName, cause: Outcome & { type: 'pause' }): void
  /** The lane has been in an outage for a while: the service is out of reach or fails, records wait, one probe at a time. */
  outage(lane: LaneName, cause: { readonly reason: string }): void
  /** A lane delivers again that was told to be paused or in an outage. */
  resumed(lane: LaneName): void
  /** A lane that had to give up records delivers again and has room; at most once a minute. */
  recovered(lane: LaneName, losses: Losses): void
}
