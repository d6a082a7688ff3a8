import type { LogRecord } from 'sluice'
import { lineMapper } from '../../../../src/records/line.js'
import { lineOf, lineStyle } from '../../../opentelemetry/src/line.js'
import type { OpenTelemetryRecord } from '../../../opentelemetry/src/record.js'
import { serviceOf } from '../../../opentelemetry/src/service.js'

/** Longest message in bytes: what the receiver takes in one record. */
const maxMessageBytes = 1_048_576
const map = lineMapper({ ...lineStyle, context: 'json', maxMessageBytes, timestampUnit: 'ms' })

export interface MappedLog {
  readonly record: LogRecord
  /** Length of the line of pino that stood between, which says how much work the record was. */
  readonly length: number
}

/**
 * The log record of the API that stands for a record of OpenTelemetry, as `SluiceLogRecordExporter` of `sluice-opentelemetry` makes it, with the
 * service of its resource. `timeStamp` is in ms. A service without a name is `unknown_service`. A message longer than 1 MiB is cut.
 */
export function logRecordOf(record: OpenTelemetryRecord): MappedLog {
  const arrivedAt = Date.now()
  const { text } = lineOf(record, arrivedAt)
  const { fields } = map(text, { arrivedAt })
  const { attributes } = record.resource
  return { record: { ...fields, appName: 'unknown_service', ...serviceOf(attributes) }, length: text.length }
}
