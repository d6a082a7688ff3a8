export { levelNames, type Severity, severityOfName } from './records/level.js'
export { type OpenTelemetryLog, openTelemetryLogRecord } from './records/opentelemetry-log.js'
export type { OpenTelemetryRecord } from './records/opentelemetry-record.js'
export type { LogRecord, ValueRecord } from './records/wire.js'
