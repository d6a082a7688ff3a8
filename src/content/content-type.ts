import { argumentError } from './argument-error.js'

/** Fields of an entry of which nothing is known. */
export type EntryFields = Readonly<Record<string, unknown>>

declare const fieldsOf: unique symbol

/** A content type as code knows it: its key, and what its entries consist of. Made by {@link contentType}. */
export interface ContentType<Fields extends object = EntryFields> {
  /** Key (or id) of the content type. */
  readonly key: string
  /** Exists for the compiler alone. */
  readonly [fieldsOf]?: (fields: Fields) => Fields
}

/**
 * Name a content type and its fields, so that an entry with a wrong field does not compile:
 *
 *     const article = contentType<{ title: string; body?: string }>('article')
 *
 * The service checks entries against its own schema, whatever is said here.
 *
 * @throws {TypeError} when the key is no text, or empty
 */
export function contentType<Fields extends object = EntryFields>(key: string): ContentType<Fields> {
  if (typeof key !== 'string' || key === '') throw argumentError('contentType', { expected: 'a key', got: key })
  return { key }
}

/** One field of a content type's schema. */
export interface FieldDefinition {
  readonly key: string
  readonly label: string
  /** `text` and `richtext` are documented; there may be others. */
  readonly type: string
  readonly required: boolean
  /** Longest value, of text fields. */
  readonly maxLength?: number
}

/** A content type as the service describes it. */
export interface ContentTypeInfo {
  readonly id: string
  readonly projectId: string
  readonly name: string
  readonly key: string
  readonly description: string
  /** Key of the field that stands for an entry in lists. */
  readonly displayField: string
  readonly schema: readonly FieldDefinition[]
  readonly schemaVersion: number
  readonly fieldsCount: number
  readonly isActive: boolean
  readonly createdBy: number
  readonly updatedBy: number
  readonly updatedByName: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** ISO 8601, UTC. */
  readonly updatedAt: string
}
