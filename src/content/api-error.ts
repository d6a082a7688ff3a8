import { type ApiErrorCode, SluiceError } from '../errors/sluice-error.js'
import { quoted } from '../errors/text-of.js'
import type { ValidationError } from '../records/wire.js'

export interface ApiFailure {
  readonly code: ApiErrorCode
  readonly message: string
  readonly status?: number | undefined
  readonly validationErrors?: readonly ValidationError[] | undefined
  readonly correlationId?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/** An operation of the service that failed. Match on `code`. No key and no token is in it. */
export class ApiError extends SluiceError {
  /** What went wrong; see {@link ApiErrorCode}. */
  declare readonly code: ApiErrorCode
  /** Status of the answer; undefined when there was none. */
  readonly status: number | undefined
  /** Which fields are wrong, and why; empty unless the service says so. */
  readonly validationErrors: readonly ValidationError[]
  /** Under which the service can find the failure in its own logs. */
  readonly correlationId: string | undefined
  /** How long the service asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(failure: ApiFailure) {
    const { cause } = failure
    super(failure.code, failure.message, cause === undefined ? undefined : { cause })
    this.status = failure.status
    this.validationErrors = failure.validationErrors ?? []
    this.correlationId = failure.correlationId
    this.retryAfterMs = failure.retryAfterMs
  }
}

/** A mistake of the caller's: what an argument should be, and what it is. */
export function argumentError(name: string, { expected, got }: { expected: string; got: unknown }): TypeError {
  return new TypeError(`${name}: expected ${expected}, got ${quoted(got)}`)
}
