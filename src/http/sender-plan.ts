import type { Clock } from '../runtime/clock.js'
import type { LaneSlots } from './connection-slots.js'
import type { ConnectionOptions } from './connector.js'

/** Where the key for `x-api-key` comes from. */
export interface KeySource {
  reveal(): string
  /** Whether there is another key now than the one that was refused. */
  renew(refused: string): boolean
}

/** What every sender over HTTP has to know. */
export interface SenderPlan {
  /** Base URL; the paths of the API follow it. */
  readonly url: string
  /** Asked for the key whenever requests are written, and for another one when the service has refused it. */
  readonly apiKey: KeySource
  readonly userAgent: string
  /** Most connections for each kind of record. */
  readonly maxConnections: number
  /** Where several senders share them. @default its own, `maxConnections` for each kind */
  readonly slots?: LaneSlots
  readonly requestTimeoutMs: number
  readonly clock: Clock
  readonly connection?: ConnectionOptions
}
