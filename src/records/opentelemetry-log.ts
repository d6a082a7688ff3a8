import { describedService } from '../options/resource.js'
import { type OpenTelemetryRecord, openTelemetryMapper } from './opentelemetry-record.js'
import type { LogRecord } from './wire.js'

/** A record of OpenTelemetry with the service that it comes from. */
export interface OpenTelemetryLog extends OpenTelemetryRecord {
  /** The service; see the table of attributes in docs/opentelemetry.md. */
  readonly resource: { readonly attributes: Readonly<Record<string, unknown>> }
}

/** Longest message in bytes: what the receiver takes in one record. */
const maxMessageBytes = 1_048_576
const map = openTelemetryMapper({ context: 'json', maxMessageBytes, timestampUnit: 'ms' })

/**
 * The log record of the API that stands for a record of OpenTelemetry, as `SluiceLogRecordExporter` makes it, with the service of its
 * resource. `timeStamp` is in ms. A service without a name is `unknown_service`. A message longer than 1 MiB is cut. Sends nothing.
 */
export function openTelemetryLogRecord(record: OpenTelemetryLog): LogRecord {
  const { fields } = map(record, Date.now())
  return { ...fields, appName: 'unknown_service', ...describedService(record.resource.attributes) }
}
