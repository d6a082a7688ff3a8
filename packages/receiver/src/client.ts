export type { LogRecord, ValueRecord } from 'sluice'
export type {
  ApiErrorCode,
  ConfigErrorCode,
  Page,
  PageBounds,
  PagedList,
  SluiceErrorCode,
  ValidationError,
} from 'sluice/content'
export { ApiError, ConfigError, SluiceError } from './client/errors.js'
export type { LogError, LogErrors } from './client/log-errors.js'
export {
  createReadingClient,
  type LogFacets,
  type Project,
  type ReadingClient,
  type ReadingOptions,
  type RecordList,
} from './client/reading-client.js'
export type { ErrorFilter, LevelName, LogFilter, RecordBounds, Steps, ValueFilter } from './client/reading-query.js'
export type { CountedStep, RecordCounts } from './client/record-counts.js'
export type { Arrival, RecordPage, StoredLog, StoredValue } from './client/stored-record.js'
