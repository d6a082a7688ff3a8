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
export type { ContentTypeList, Page, PageBounds } from './content/content-type.js'
export {
  type ContentType,
  type ContentTypeInfo,
  contentType,
  type EntryFields,
  type FieldDefinition,
} from './content/content-type.js'
export {
  type ApiErrorCode,
  ConfigError,
  type ConfigErrorCode,
  SluiceError,
  type SluiceErrorCode,
} from './errors/sluice-error.js'
export type { ValidationError } from './records/wire.js'
