import type { ReadAnswer } from './response-reader.js'

/** Hears how the server takes to pipelining. */
export interface PipelineWatch {
  /** An answer that differs from the one before it on its connection, and the idempotency key of its request. */
  saw(answer: ReadAnswer, idempotencyKey: string | undefined): void
  /** So many answers have come in good order. */
  answered(count: number): void
  misunderstood(reason: string): void
  /** A connection has broken with requests on it that are unanswered, and the server had not announced it. */
  broke(breakage: Breakage): void
}

export interface Breakage {
  /** When the connection was opened, on the clock. */
  readonly openedAt: number
  /** Requests that had been written together. */
  readonly requests: number
  /**
   * It says nothing of pipelining, for none of them was answered, and it was a time-out, as servers make that are stuck, or the connection
   * had been idle before, when servers close it without a word.
   */
  readonly usual: boolean
}
