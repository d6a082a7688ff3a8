import type { BackoffBounds } from '../delivery/backoff.js'
import type { LaneName } from '../delivery/ledger.js'
import type { Observer } from '../delivery/observer.js'
import type { Limits } from '../delivery/plan.js'
import type { Sender } from '../delivery/sender.js'
import type { Backing } from '../log/backing.js'
import type { Loop } from '../runtime/loop.js'
import type { ServiceReach } from '../runtime/shared-reach.js'

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
