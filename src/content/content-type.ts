import { ApiError, argumentError } from './api-error.js'

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

/** A part of a list, and how long the whole is. */
export interface Page<Item> {
  /** How many there are in all. */
  readonly total: number
  /** Those of this page, in the order of the service. */
  readonly list: readonly Item[]
}

/** Which part of a list. */
export interface PageBounds {
  /** Position of the first item, from 1. @default 1 */
  readonly from?: number | undefined
  /** Most items of the page; the API calls it `to`. @default 20 */
  readonly to?: number | undefined
}

/** The content types of a project: all of them, fetched page by page as they are asked for, or one page. */
export interface ContentTypeList extends AsyncIterable<ContentTypeInfo> {
  /** One page. Rejects with an `ApiError`, and with a `TypeError` for bounds that are no whole numbers from 1 on. */
  page(bounds?: PageBounds): Promise<Page<ContentTypeInfo>>
}

/** The defaults of the API. */
const firstPage = { from: 1, to: 20 } as const

/** A list over whatever fetches its pages. */
export function typeList(fetchPage: (bounds: Required<PageBounds>) => Promise<Page<ContentTypeInfo>>): ContentTypeList {
  const page = async ({ from = firstPage.from, to = firstPage.to }: PageBounds = {}) => {
    requirePosition('from', from)
    requirePosition('to', to)
    return await fetchPage({ from, to })
  }
  async function* all(): AsyncGenerator<ContentTypeInfo, void> {
    let from: number = firstPage.from
    for (;;) {
      const { total, list } = await page({ from })
      yield* list
      from += list.length
      if (from > total) return
      if (list.length > 0) continue
      // A list that ends before its end would be taken for the whole.
      const message = `list content types: the service counts ${total} and lists none from number ${from} on`
      throw new ApiError({ code: 'unreadable-answer', status: 200, message })
    }
  }
  return { page, [Symbol.asyncIterator]: all }
}

function requirePosition(name: string, value: unknown): void {
  if (Number.isSafeInteger(value) && Number(value) >= 1) return
  throw argumentError(name, { expected: 'a whole number from 1', got: value })
}
