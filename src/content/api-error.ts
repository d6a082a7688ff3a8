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

/** A failed operation of the service. Match on `code`. It contains no key and no token. */
export class ApiError extends SluiceError {
  /** The kind of failure, see {@link ApiErrorCode}. */
  declare readonly code: ApiErrorCode
  /** Status of the answer; undefined if there was none. */
  readonly status: number | undefined
  /** The fields that are wrong, with the reasons. Empty unless the service names them. */
  readonly validationErrors: readonly ValidationError[]
  /** Identifies the failure in the service's own logs. */
  readonly correlationId: string | undefined
  /** The time that the service asks to wait, in milliseconds. */
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

/** The error for a wrong argument: its name, what was expected, and its value. */
export function argumentError(name: string, { expected, got }: { expected: string; got: unknown }): TypeError {
  return new TypeError(`${name}: expected ${expected}, got ${quoted(got)}`)
}
