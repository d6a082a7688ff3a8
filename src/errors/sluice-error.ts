/**
 * Every code of a {@link SluiceError}:
 *
 * - `SLUICE_DROPPED`: records are lost; the message has the number and the reason
 * - `SLUICE_REJECTED`: the service refused a record for its content
 * - `SLUICE_PAUSED`: a lane waits until a key, a bucket or a plan is corrected; its records are kept
 * - `SLUICE_OUTAGE`: a lane has delivered nothing for 10 s; its records are kept
 * - `SLUICE_INVALID_EVENT`: a `track` call had a bad number or time
 * - `SLUICE_UNMAPPED`: a log line could not be read
 * - `SLUICE_PIPELINING`: requests are sent one at a time on each connection from now on
 * - `SLUICE_PROXY`: a proxy variable has no usable URL and is ignored
 * - `SLUICE_SPOOL`: the spool folder cannot be used as configured
 * - `SLUICE_WORKER_FAILED`: the delivery worker failed
 * - `SLUICE_WAIT_UNTIL`: the option `waitUntil`, or that of the platform, threw; the records are kept
 * - `SLUICE_CAPTURE_LATE`: `captureSluice` was called after records had been sent
 * - the codes of `ConfigError` and `ApiError`
 */
export type SluiceErrorCode =
  | 'SLUICE_DROPPED'
  | 'SLUICE_REJECTED'
  | 'SLUICE_PAUSED'
  | 'SLUICE_OUTAGE'
  | 'SLUICE_INVALID_EVENT'
  | 'SLUICE_UNMAPPED'
  | 'SLUICE_PIPELINING'
  | 'SLUICE_PROXY'
  | 'SLUICE_SPOOL'
  | 'SLUICE_WORKER_FAILED'
  | 'SLUICE_WAIT_UNTIL'
  | 'SLUICE_CAPTURE_LATE'
  | ConfigErrorCode
  | ApiErrorCode

/** `…_INVALID`: the value cannot be used. `…_MISSING`: a required setting is not set. `…_UNKNOWN`: no option has this name. */
export type ConfigErrorCode = 'SLUICE_CONFIG_INVALID' | 'SLUICE_CONFIG_MISSING' | 'SLUICE_CONFIG_UNKNOWN'

/**
 * Codes of a content operation that failed:
 *
 * - `validation-failed`: the fields do not satisfy the schema (400); see `validationErrors`
 * - `unauthorized`: the key or token is missing, wrong, or not allowed to do this (401, 403)
 * - `not-found`: no such project, content type or entry (404)
 * - `plan-required`: the project's plan or payment does not allow it (412)
 * - `server-error`: the service failed (5xx); see `correlationId`
 * - `too-many-requests`: the service asks for less (429); see `retryAfterMs`
 * - `refused`: any other status of 4xx
 * - `redirected`: the service is elsewhere (3xx); redirects are not followed
 * - `not-the-service`: something else answered, such as a login page on the way; whether a write was done is not known
 * - `unreadable-answer`: a success whose body is not what the API describes; a write has been done
 * - `unsent`: the request never left (refused, name, TLS, connection time-out), so nothing was done
 * - `no-answer`: the request left and no answer came; whether a write was done is not known
 */
export type ApiErrorCode =
  | 'validation-failed'
  | 'unauthorized'
  | 'not-found'
  | 'plan-required'
  | 'server-error'
  | 'too-many-requests'
  | 'refused'
  | 'redirected'
  | 'not-the-service'
  | 'unreadable-answer'
  | 'unsent'
  | 'no-answer'

/** The base of every error that Sluice makes. Match on `code`: it is stable. The message is for people and may change. */
export class SluiceError extends Error {
  /** The kind of error, such as `SLUICE_PAUSED`. */
  readonly code: SluiceErrorCode

  constructor(code: SluiceErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}

/**
 * Where a wrong setting stands. `code`: an option of the application. `environment`: a variable, or a value that neither an option nor a
 * variable gives.
 */
export type ConfigOrigin = 'code' | 'environment'

/** A mistake in one setting. `value` is `'[redacted]'` for secrets. */
export interface ConfigMistake {
  readonly code: ConfigErrorCode
  /** The option's name, as in `createSluice({ url })`. */
  readonly option: string
  /** The variable of the option. */
  readonly variable?: string | undefined
  readonly value?: unknown
  readonly message: string
  /** @default 'code' */
  readonly origin?: ConfigOrigin
}

/**
 * A mistake in the configuration: an option or variable that is invalid, missing or unknown. Thrown where Sluice is set up, never by `track`
 * or a logger call. `createSluice` and the clients throw it for every mistake. Loggers (`SluiceTransport`, `sluicePino`, the pino target, the
 * exporter for OpenTelemetry) throw it for mistakes in code alone: for one in the environment they are off, with one line on stderr.
 */
export class ConfigError extends SluiceError {
  declare readonly code: ConfigErrorCode
  /** The option's name, as in `createSluice({ url })`. */
  readonly option: string
  /** The variable of the option; undefined if it has none. */
  readonly variable: string | undefined
  /** The invalid value; `'[redacted]'` for secrets. */
  readonly value: unknown
  /** `code` for a wrong option, `environment` for a wrong variable or a value that is missing. */
  readonly origin: ConfigOrigin

  constructor(mistake: ConfigMistake) {
    super(mistake.code, mistake.message)
    this.option = mistake.option
    this.variable = mistake.variable
    this.value = mistake.value
    this.origin = mistake.origin ?? 'code'
  }
}
