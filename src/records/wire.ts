/** A log record as the API takes it: the body of `POST /logs/{bucketId}`. */
export interface LogRecord {
  /** Unix time of the line, in the unit of the option `timestampUnit`. */
  readonly timeStamp: number
  /** Name of the level, lower case. */
  readonly level: string
  readonly message: string
  /** Name of the service. */
  readonly appName: string
  readonly machineName?: string
  readonly eventId?: number
  readonly env?: string
  readonly appVersion?: string
  readonly runtimeVersion?: string
  /** See {@link runtimes}. */
  readonly runtime?: number
}

/** A value record as the API takes it: the body of `POST /value_tracking/{bucketId}`, one occurrence of an event. */
export interface ValueRecord {
  readonly timeStamp: number
  readonly eventId: number
  readonly appName: string
  readonly env?: string
  readonly appVersion?: string
  readonly runtimeVersion?: string
  readonly runtime?: number
}

/** The two kinds of record; each has its own lane and its own path in the API. */
export type RecordKind = 'logs' | 'values'

/** One entry of `validationErrors` in the API's answers. */
export interface ValidationError {
  /** The field that failed. */
  readonly name: string
  /** What was sent; null for a missing field. */
  readonly attemptedValue: unknown
  readonly message: string
}

/** Numbers for the field `runtime`, which the API leaves open. */
export const runtimes = { node: 1, bun: 2, deno: 3 } as const
