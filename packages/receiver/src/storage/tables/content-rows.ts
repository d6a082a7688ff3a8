import type { ContentType } from '../../schemas/content-types.js'
import type { Entry } from '../../schemas/entries.js'
import { fromStoredText } from '../stored-text.js'

/** Columns of the content types. */
export interface TypeRow {
  readonly id: string
  readonly project: string
  readonly key: string
  readonly name: string
  readonly description: string
  readonly display_field: string
  readonly schema: string
  readonly schema_version: number
  readonly created_at: string
  readonly updated_at: string
}

/** Columns of the entries. */
export interface EntryRow {
  readonly id: string
  readonly schema_version: number
  readonly state: Entry['state']
  readonly fields: string
  readonly created_at: string
  readonly updated_at: string
  readonly published_at: string | null
}

/** The receiver knows keys, not users. */
const editor = { createdBy: 0, updatedBy: 0, updatedByName: 'API key' } as const

export function contentTypeOf(row: TypeRow): ContentType {
  const schema = JSON.parse(row.schema) as ContentType['schema']
  return {
    id: row.id,
    projectId: row.project,
    name: fromStoredText(row.name),
    key: row.key,
    description: fromStoredText(row.description),
    displayField: row.display_field,
    schema,
    schemaVersion: row.schema_version,
    fieldsCount: schema.length,
    // No other types are read.
    isActive: true,
    ...editor,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export function entryOf(row: EntryRow, type: ContentType): Entry {
  return {
    id: row.id,
    projectId: type.projectId,
    contentTypeId: type.id,
    contentTypeKey: type.key,
    schemaVersion: row.schema_version,
    state: row.state,
    fields: JSON.parse(row.fields) as Entry['fields'],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    publishedAt: row.published_at,
  }
}
