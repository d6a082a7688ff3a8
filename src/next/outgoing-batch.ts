import type { Outcome, Outgoing } from '../delivery/sender.js'
import type { RecordKind } from '../records/wire.js'

// For the time being: an import from delivery/sender.ts replaces this file once the port is there.

/** Records that go out on one connection in one go, one request each. */
export interface OutgoingBatch {
  readonly kind: RecordKind
  readonly bucket: string
  readonly length: number
  /** True for one record that tests the service. */
  readonly probe: boolean
  /** True where it must not go out on a connection that has been idle. */
  readonly fresh: boolean
  /** Length of a body. */
  bytesOf(index: number): number
  /** Copies `count` bodies, from that at `index` on, one behind another to `at`. Returns the position behind them. */
  copyRun(index: number, count: number, memory: Buffer, at: number): number
  /** No idempotency key is longer. */
  readonly mostKeyBytes: number
  /** Writes the idempotency key (ASCII). Returns the position behind it. */
  writeKey(index: number, memory: Buffer, at: number): number
  isKey(index: number, text: string): boolean
  /** The record as text, for senders that send one at a time. */
  textOf(index: number): Outgoing
  /** It goes out on a connection that has been idle. */
  woken(): void
  /** Some records wait until others are answered. */
  parted(): void
  /** The outcome of `count` records (default 1) from `index` on; once for each record, in any order. */
  settle(index: number, outcome: Outcome, count?: number): void
  /** Every record has its outcome. The last call. */
  done(): void
}
