import type { Clock } from '../runtime/clock.js'
import type { ServiceReach } from '../runtime/shared-reach.js'
import type { BackoffBounds } from './backoff.js'
import type { LaneName } from './ledger.js'
import type { Observer } from './observer.js'
import type { Sender } from './sender.js'
import type { Store } from './store.js'

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
  /** Keeps records beyond memory. @default none: what has no room in memory is given up */
  readonly store?: Store
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly observer: Observer
  readonly limits: Limits
  readonly maxConnections: number
  readonly maxBatch: number
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
