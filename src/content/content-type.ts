import { argumentError } from './api-error.js'
import { type Page, type PageBounds, type PagedList, pagedList } from './paged-list.js'

/** Fields of an entry of unknown type. */
export type EntryFields = Readonly<Record<string, unknown>>

declare const fieldsOf: unique symbol

/** A content type in code: its key and the fields of its entries. Made by {@link contentType}. */
export interface ContentType<Fields extends object = EntryFields> {
  /** Key (or id) of the content type. */
  readonly key: string
  /** Exists for the compiler only. */
  readonly [fieldsOf]?: (fields: Fields) => Fields
}

/**
 * Names a content type and its fields, so that an entry with a wrong field does not compile:
 *
 *     const article = contentType<{ title: string; body?: string }>('article')
 *
 * The service checks entries against its own schema all the same.
 *
 * @throws {TypeError} if the key is empty or not a text
 */
export function contentType<Fields extends object = EntryFields>(key: string): ContentType<Fields> {
  if (typeof key !== 'string' || key === '') throw argumentError('contentType', { expected: 'a key', got: key })
  return { key }
}

/** One field of a content type's schema. */
export interface FieldDefinition {
  /** Key of the field in an entry's `fields`. */
  readonly key: string
  /** Name of the field for people. */
  readonly label: string
  /** `text` and `richtext` are documented. There may be others. */
  readonly type: string
  /** True if an entry must have the field. */
  readonly required: boolean
  /** Longest value of a text field, in characters. */
  readonly maxLength?: number
}

/** A content type as the service describes it. */
export interface ContentTypeInfo {
  /** Identifier from the service. */
  readonly id: string
  /** The project (bucket) of the content type. */
  readonly projectId: string
  /** Name for people. */
  readonly name: string
  /** Key in paths and in {@link contentType}. */
  readonly key: string
  /** Free text; may be empty. */
  readonly description: string
  /** Key of the field that represents an entry in lists. */
  readonly displayField: string
  /** Fields of its entries. */
  readonly schema: readonly FieldDefinition[]
  /** Increases with each change of the schema. */
  readonly schemaVersion: number
  /** Number of fields in the schema. */
  readonly fieldsCount: number
  /** False if the content type is archived. */
  readonly isActive: boolean
  /** Number of the user who made it. */
  readonly createdBy: number
  /** Number of the user of the last change. */
  readonly updatedBy: number
  /** Name of the user of the last change. */
  readonly updatedByName: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** ISO 8601, UTC. */
  readonly updatedAt: string
}

/** The content types of a project: an iteration over all, fetched page by page when needed, or one page. */
export type ContentTypeList = PagedList<ContentTypeInfo>

/** A list of content types with this function to fetch its pages. */
export function typeList(fetchPage: (bounds: Required<PageBounds>) => Promise<Page<ContentTypeInfo>>): ContentTypeList {
  return pagedList('list content types', fetchPage)
}
