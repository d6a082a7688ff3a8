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
  /** Key of the field in an entry's `fields`. */
  readonly key: string
  /** What people see instead of the key. */
  readonly label: string
  /** `text` and `richtext` are documented; there may be others. */
  readonly type: string
  /** Whether an entry must have it. */
  readonly required: boolean
  /** Longest value, in characters; of text fields. */
  readonly maxLength?: number
}

/** A content type as the service describes it. */
export interface ContentTypeInfo {
  /** Identifier that the service gave it. */
  readonly id: string
  /** The project (bucket) that it belongs to. */
  readonly projectId: string
  /** What people see. */
  readonly name: string
  /** What stands for it in paths and in {@link contentType}. */
  readonly key: string
  /** Free text; may be empty. */
  readonly description: string
  /** Key of the field that stands for an entry in lists. */
  readonly displayField: string
  /** What its entries consist of. */
  readonly schema: readonly FieldDefinition[]
  /** Counts up with each change of the schema. */
  readonly schemaVersion: number
  /** Number of fields in the schema. */
  readonly fieldsCount: number
  /** False when it is archived. */
  readonly isActive: boolean
  /** Number of the user who made it. */
  readonly createdBy: number
  /** Number of the user who changed it last. */
  readonly updatedBy: number
  /** Name of the user who changed it last. */
  readonly updatedByName: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** ISO 8601, UTC. */
  readonly updatedAt: string
}
