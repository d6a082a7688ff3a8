import type { Backing } from '../log/backing.js'
import type { Newcomer } from '../log/record-log.js'
import type { Severity } from '../records/level.js'
import type { Loop } from '../runtime/loop.js'
import type { ServiceReach } from '../runtime/shared-reach.js'
import type { BackoffBounds } from './backoff.js'
import type { LaneName } from './ledger.js'
import type { Observer } from './observer.js'
import type { Sender } from './sender.js'

/** The bounds of the records that one engine has in memory, queued and in flight together. */
export interface Limits {
  readonly maxQueueRecords: number
  readonly maxQueueBytes: number
}

/** The ports and settings of a delivery. */
export interface DeliveryPlan {
  /** One lane for each; `accept` names them by their index. */
  readonly lanes: readonly LaneName[]
  readonly sender: Sender
  /** Keeps records on disk. @default none: what has no room in memory is given up */
  readonly backing?: Backing
  readonly loop: Loop
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly observer: Observer
  readonly limits: Limits
  readonly maxConnections: number
  readonly maxBatch: number
  /** Records that come within this time after a send wait for its end, so that they go out together; 0: none do. */
  readonly lingerMs: number
  /** The time that the sender gives one request. Delivery keeps the service's queue far below it. */
  readonly requestTimeoutMs: number
  readonly retry: BackoffBounds
  readonly probe: BackoffBounds
  /** Memory of the ledger, where another thread has made it. */
  readonly memory?: SharedArrayBuffer | undefined
  /** The service, as other deliveries know it. @default this one judges for itself */
  readonly service?: ServiceReach | undefined
  /** Makes the idempotency keys of this delivery unlike those of any other. */
  readonly keyPrefix: string
}

/** A record as it is accepted. */
export interface Acceptable {
  readonly body: string
  readonly severity: Severity
  /** A key of its own. @default made from its place in the order of acceptance */
  readonly idempotencyKey?: string | undefined
  /** @default 'taken' */
  readonly origin?: Newcomer | undefined
}

/** The time of a flush. */
export interface FlushTime {
  readonly timeoutMs: number
  /** True where the process stays alive until the end of the flush. @default true */
  readonly holdsProcess?: boolean | undefined
  /** True where a service at whose address nothing has ever listened is not waited for. @default false */
  readonly brief?: boolean | undefined
}
