import type { OpenTelemetryRecord } from '../../../opentelemetry/src/record.js'
import { withoutService } from '../../../opentelemetry/src/service.js'

/** Attributes by name, with the values of JSON. An int64 that a number cannot hold is a text, as in OTLP's JSON. */
export type Attributes = Record<string, unknown>

/** Nanoseconds since 1970; 0 for a time that was not set. */
export type Nanoseconds = bigint

/** A record as it arrived, in either encoding. */
export interface ReceivedLog {
  time: Nanoseconds
  observedTime: Nanoseconds
  severityNumber: number
  severityText: string
  body: unknown
  attributes: Attributes
  /** In hex; empty for none. */
  traceId: string
  spanId: string
  eventName: string
}

/** The records of one scope of one resource. */
export interface ReceivedScope {
  readonly resource: Attributes
  readonly scope: string
  /** Those of the scope. */
  readonly attributes: Attributes
  /** Their number. */
  readonly count: number
  /** Reads each record when it is asked for: all at once may need much memory. @throws {OtlpError} for a record that is none */
  readonly records: Iterable<ReceivedLog>
}

/** Bounds what a request may have of something. */
export class Bound {
  #left: number
  readonly #text: string

  /** @param what what is counted, in the plural */
  constructor(max: number, what: string) {
    this.#left = max
    this.#text = `must not have more than ${max} ${what}`
  }

  /** @throws {OtlpError} for one too many */
  take(count: number): void {
    this.#left -= count
    if (this.#left < 0) throw new OtlpError(this.#text, 413)
  }
}

/** The bounds of one request. */
export class RequestBounds {
  readonly records: Bound
  readonly scopes: Bound
  readonly ofResources = new Bound(maxValues, 'values in its resources')

  /** @param maxRecords most records, and most scopes */
  constructor(maxRecords: number) {
    this.records = new Bound(maxRecords, 'records')
    this.scopes = new Bound(maxRecords, 'scopes')
  }
}

/** The bound of the values of one record: many small ones take long to read. */
export function boundOfRecord(): Bound {
  return new Bound(maxValues, 'values in a record')
}

const maxValues = 10_000

/** `__proto__` is a name like any other. */
export function setAttribute(attributes: Attributes, name: string, value: unknown): void {
  Object.defineProperty(attributes, name, { value, enumerable: true, configurable: true, writable: true })
}

/** A request that is not an `ExportLogsServiceRequest`. The message is a predicate: "body" goes before it. */
export class OtlpError extends Error {
  override name = 'OtlpError'
  readonly statusCode: 400 | 413

  constructor(message: string, statusCode: 400 | 413 = 400) {
    super(message)
    this.statusCode = statusCode
  }
}

/** Largest time of the protocol, in the year 2554. */
export const latestTime: Nanoseconds = 2n ** 64n - 1n

/** The records of a request, in its order. What resource and scope say beside the service is said of each record. @throws {OtlpError} for a record that is none */
export function* logsOf(scopes: readonly ReceivedScope[]): Generator<OpenTelemetryRecord> {
  for (const { resource, scope, attributes: ofScope, records } of scopes) {
    const shared = { ...withoutService(resource), ...ofScope }
    for (const { time, observedTime, severityNumber, severityText, body, attributes, eventName, ...ids } of records) {
      yield {
        resource: { attributes: resource },
        instrumentationScope: { name: scope },
        hrTime: hrTime(time),
        hrTimeObserved: hrTime(observedTime),
        severityNumber,
        severityText,
        body,
        // Its own come first, for readers look at a limited number.
        attributes: { ...attributes, ...shared, ...attributes },
        eventName: eventName || undefined,
        spanContext: spanContext(ids),
      }
    }
  }
}

/** OpenTelemetry's time: seconds, and nanoseconds. */
function hrTime(written: Nanoseconds): [number, number] {
  const time = inNanoseconds(written)
  return [Number(time / nanosecondsPerSecond), Number(time % nanosecondsPerSecond)]
}

/** Some senders write another unit. No log is from before 1973, so that the size of a time tells its unit. */
function inNanoseconds(time: Nanoseconds): Nanoseconds {
  if (time >= 10n ** 17n) return time
  if (time >= 10n ** 14n) return time * 1000n
  if (time >= 10n ** 11n) return time * 1_000_000n
  return time >= 10n ** 8n ? time * nanosecondsPerSecond : time
}

const nanosecondsPerSecond = 1_000_000_000n

/** The API of OpenTelemetry calls an id invalid whose digits are all 0. */
function spanContext({ traceId, spanId }: Pick<ReceivedLog, 'traceId' | 'spanId'>) {
  return /[^0]/.test(traceId) ? { traceId, spanId } : undefined
}
