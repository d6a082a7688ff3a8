import type { RecordKind, ValidationError } from '../records/wire.js'

/** One record, as a sender sees it. */
export interface Outgoing {
  /** JSON, the body of the request. */
  readonly body: string
  /** Length of the body in UTF-8. */
  readonly bytes: number
  /** The same for every attempt, so that a server can recognise a repetition. */
  readonly idempotencyKey: string
}

/**
 * `any`: any open connection. `lively`: one that has not been idle, because an idle connection may be lost and there is no time to find out.
 * `new`: one that has had no request, because a used connection may be about to end.
 */
export type UsableConnection = 'any' | 'lively' | 'new'

/** Records that go out on one connection in one go, one request each. The bodies and keys are bytes, which a sender copies out. */
export interface OutgoingBatch {
  readonly kind: RecordKind
  readonly bucket: string
  readonly length: number
  /** True for one record that tests the service. */
  readonly probe: boolean
  /** It goes out on one of these. */
  readonly connection: UsableConnection
  /** Length of a body. */
  bytesOf(index: number): number
  /** Copy `count` bodies, from that at `index` on, one behind another to `at`. Returns the position behind them. */
  copyRun(index: number, count: number, memory: Buffer, at: number): number
  /** No idempotency key is longer. */
  readonly mostKeyBytes: number
  /** Write the idempotency key, which is ASCII, to a position that has room for it. Returns the position behind it. */
  writeKey(index: number, memory: Buffer, at: number): number
  isKey(index: number, text: string): boolean
  /** The record with its body as text, for senders that send one at a time. */
  textOf(index: number): Outgoing
  /** Called when it goes out on a connection that has been idle. */
  woken(): void
  /** Called before its first request is written: from then on it may arrive. False: it was given up meanwhile, and nothing may be written. */
  begin(): boolean
  /** Called when some records wait until others are answered. The time between answers then says nothing about the server. */
  parted(): void
  /** Reports the outcome of the record at `index`, or of `count` records from there on: once for each record, in any order. */
  settle(index: number, outcome: Outcome, count?: number): void
  /** Every record has its outcome. The last call. */
  done(): void
}

/** The outcome of one attempt to send one record. */
export type Outcome =
  | { readonly type: 'delivered' }
  | {
      readonly type: 'rejected'
      readonly status: number
      readonly reason: string
      readonly validationErrors: readonly ValidationError[]
    }
  | {
      readonly type: 'retry'
      /**
       * `answered`: the server asks for a retry; `unsent`: the request was never written; `ambiguous`: it was written and not answered.
       */
      readonly exchange: 'answered' | 'unsent' | 'ambiguous'
      /** True where the connection was refused: nothing listens there. @default false */
      readonly refused?: boolean
      /** Status of the answer, where there was one. */
      readonly status?: number
      readonly reason: string
      /** True when the server asks for less: 429, 503 or no answer in time. */
      readonly backPressure: boolean
      readonly retryAfterMs?: number
    }
  | {
      readonly type: 'pause'
      readonly status: number
      readonly reason: string
      /** `key`: every lane of the engine pauses, for they share the key; `lane`: this one pauses. */
      readonly scope: 'key' | 'lane'
    }

/** How the records of a lane are carried now. */
export interface Carriage {
  readonly sender: SenderName
  /** Most requests in flight on one connection. */
  readonly maxDepth: number
  /** True while the service is known to take a repeated request once. @default false */
  readonly repeatable?: boolean
}

export const senderNames = ['undici', 'pipelined'] as const

export type SenderName = (typeof senderNames)[number]

/** The port through which records leave. Implementations never throw and never repeat a request by themselves. */
export interface Sender {
  /** It may change from batch to batch, as more is known of the service. */
  carriage(kind: RecordKind): Carriage
  /** The batch is told the outcome of each record, then that it is done, perhaps before this returns. */
  send(batch: OutgoingBatch): void
  /** Release every connection. Requests in flight are given up. */
  close(): Promise<void>
}
