/** Seconds since 1970, and nanoseconds. */
export type HrTime = readonly [number, number]

/** The part of OpenTelemetry's `ReadableLogRecord` that is read here. Its own type would need its package. */
export interface OpenTelemetryRecord {
  /** Time of the event; zeros for one that was not set. */
  readonly hrTime: HrTime
  /** Time of its observation, for an event without a time. */
  readonly hrTimeObserved: HrTime
  /** Name of the level at its source. */
  readonly severityText?: string | undefined
  /** From 1 to 24; see OpenTelemetry's `SeverityNumber`. */
  readonly severityNumber?: number | undefined
  /** The text; any other value is written as JSON. */
  readonly body?: unknown
  /** Becomes the field `eventName`. */
  readonly eventName?: string | undefined
  /** Fields by name. */
  readonly attributes: object
  /** Ids in hex of the span in which it was logged. */
  readonly spanContext?: { readonly traceId: string; readonly spanId: string } | undefined
  /** Becomes the field `scope`. */
  readonly instrumentationScope: { readonly name: string }
  /** The service. */
  readonly resource: OpenTelemetryResource
}

/** OpenTelemetry's `Resource`. */
export interface OpenTelemetryResource {
  readonly attributes: Readonly<Record<string, unknown>>
}
