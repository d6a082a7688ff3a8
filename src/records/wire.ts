/** A log record of the API: the body of `POST /logs/{bucketId}`. */
export interface LogRecord {
  /** Unix time of the line, in the unit of the option `timestampUnit`. */
  readonly timeStamp: number
  /** Name of the level, lower case. */
  readonly level: string
  /** Text, then fields without a place in the API, then errors; at most `maxMessageBytes`. */
  readonly message: string
  /** Name of the service. */
  readonly appName: string
  /** Host of the application. */
  readonly machineName?: string
  /** Number of an event: the field `eventId` of the line, if that is a whole number. */
  readonly eventId?: number
  /** Environment, such as `production`. */
  readonly env?: string
  /** Version of the service. */
  readonly appVersion?: string
  /** Version of the runtime, such as `v20.20.2`. */
  readonly runtimeVersion?: string
  /** See {@link runtimes}. */
  readonly runtime?: number
}

/** A value record of the API: the body of `POST /value_tracking/{bucketId}`, one occurrence of an event. */
export interface ValueRecord {
  /** Unix time of the occurrence, in the unit of the option `timestampUnit`. */
  readonly timeStamp: number
  /** Number of the event, a whole number from 0 to 2^53 - 1. */
  readonly eventId: number
  /** Name of the service. */
  readonly appName: string
  /** Environment, such as `production`. */
  readonly env?: string
  /** Version of the service. */
  readonly appVersion?: string
  /** Version of the runtime, such as `v20.20.2`. */
  readonly runtimeVersion?: string
  /** See {@link runtimes}. */
  readonly runtime?: number
}

/** The two kinds of record; each has its own lane and its own path in the API. */
export type RecordKind = 'logs' | 'values'

/** One entry of `validationErrors` in the API's answers. */
export interface ValidationError {
  /** Name of the field. */
  readonly name: string
  /** The value that was sent; null for a missing field. */
  readonly attemptedValue: unknown
  /** The reason, for people. */
  readonly message: string
}

/** Numbers for the field `runtime`. The API does not define them. */
export const runtimes = { node: 1, bun: 2, deno: 3 } as const

/**
 * True for a text that can name a bucket, a project or a content type, and so be one segment of a path. URLs lose `.` and `..`, half of a
 * surrogate pair cannot be encoded, and white space alone or control characters are mistakes.
 */
export function isPathSegment(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.trim() !== '' &&
    value !== '.' &&
    value !== '..' &&
    value.isWellFormed() &&
    !/\p{Cc}/u.test(value)
  )
}
