import type { Loop } from '../runtime/loop.js'
import type { LaneSlots } from './connection-slots.js'
import type { ConnectionOptions } from './connector.js'

/** The source of the key for `x-api-key`. */
export interface KeySource {
  reveal(): string
  /** Read the key again. Returns true when it differs from the refused one. */
  renew(refused: string): boolean
}

/** Settings of every sender over HTTP. */
export interface SenderPlan {
  /** Base URL. The paths of the API follow it. */
  readonly url: string
  /** Asked for the key at each write, and for another one when the service has refused it. */
  readonly apiKey: KeySource
  readonly userAgent: string
  /** Most connections for each kind of record. */
  readonly maxConnections: number
  /** Shared by the senders of one destination. @default its own, `maxConnections` for each kind */
  readonly slots?: LaneSlots
  readonly requestTimeoutMs: number
  readonly loop: Loop
  readonly connection?: ConnectionOptions
}
