export { ApiError } from './content/api-error.js'
export {
  type ContentClient,
  type ContentOptions,
  type CreateEntryOptions,
  createContentClient,
  type DeleteContentTypeOptions,
  type MigrateEntryOptions,
} from './content/content-client.js'
export type { WriteOptions } from './content/content-service.js'
export {
  type ContentType,
  type ContentTypeInfo,
  type ContentTypeList,
  contentType,
  type EntryFields,
  type FieldDefinition,
} from './content/content-type.js'
export type { Page, PageBounds, PagedList } from './content/paged-list.js'
export {
  type ApiErrorCode,
  ConfigError,
  type ConfigErrorCode,
  SluiceError,
  type SluiceErrorCode,
} from './errors/sluice-error.js'
export type { ValidationError } from './records/wire.js'
