import type { OpenTelemetryRecord } from '../../../opentelemetry/src/record.js'

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
  readonly records: readonly ReceivedLog[]
}

/** `__proto__` is a name like any other. */
export function setAttribute(attributes: Attributes, name: string, value: unknown): void {
  Object.defineProperty(attributes, name, { value, enumerable: true, configurable: true, writable: true })
}

/** A request that is not an `ExportLogsServiceRequest`. The message is a predicate: "body" goes before it. */
export class OtlpError extends Error {
  override name = 'OtlpError'
  readonly statusCode = 400
}

/** The records of a request, in its order. */
export function logsOf(scopes: readonly ReceivedScope[]): OpenTelemetryRecord[] {
  return scopes.flatMap(({ resource, scope, records }) =>
    records.map(({ time, observedTime, severityNumber, severityText, body, attributes, eventName, ...ids }) => ({
      resource: { attributes: resource },
      instrumentationScope: { name: scope },
      hrTime: hrTime(time),
      hrTimeObserved: hrTime(observedTime),
      severityNumber,
      severityText,
      body,
      attributes,
      eventName: eventName || undefined,
      spanContext: spanContext(ids),
    })),
  )
}

/** OpenTelemetry's time: seconds, and nanoseconds. */
function hrTime(time: Nanoseconds): [number, number] {
  return [Number(time / nanosecondsPerSecond), Number(time % nanosecondsPerSecond)]
}

const nanosecondsPerSecond = 1_000_000_000n

/** The API of OpenTelemetry calls an id invalid whose digits are all 0. */
function spanContext({ traceId, spanId }: Pick<ReceivedLog, 'traceId' | 'spanId'>) {
  return /[^0]/.test(traceId) ? { traceId, spanId } : undefined
}
