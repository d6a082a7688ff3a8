export { ApiError } from './content/api-error.js'
export type { Page, PageBounds, PagedList } from './content/paged-list.js'
export {
  type ApiErrorCode,
  ConfigError,
  type ConfigErrorCode,
  SluiceError,
  type SluiceErrorCode,
} from './errors/sluice-error.js'
export {
  createReadingClient,
  type LogFacets,
  type Project,
  type ReadingClient,
  type ReadingOptions,
  type RecordList,
} from './reading/reading-client.js'
export type { LevelName, LogFilter, RecordBounds, Steps, ValueFilter } from './reading/reading-query.js'
export type { CountedStep, RecordCounts } from './reading/record-counts.js'
export type { Arrival, RecordPage, StoredLog, StoredValue } from './reading/stored-record.js'
export type { LogRecord, ValidationError, ValueRecord } from './records/wire.js'
