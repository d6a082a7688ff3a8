import { ApiError, argumentError } from './api-error.js'

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

/** A part of a list, with the length of the whole list. */
export interface Page<Item> {
  /** Number of items in the whole list. */
  readonly total: number
  /** Items of this page, in the order of the service. */
  readonly list: readonly Item[]
}

/** The bounds of a page. */
export interface PageBounds {
  /** Position of the first item, from 1. @default 1 */
  readonly from?: number | undefined
  /** Most items of the page; the API has the name `to` for it. @default 20 */
  readonly to?: number | undefined
}

/** The content types of a project: an iteration over all, fetched page by page when needed, or one page. */
export interface ContentTypeList extends AsyncIterable<ContentTypeInfo> {
  /** One page. Rejects with an `ApiError`, or with a `TypeError` if the bounds are not whole numbers from 1. */
  page(bounds?: PageBounds): Promise<Page<ContentTypeInfo>>
}

/** The defaults of the API. */
const firstPage = { from: 1, to: 20 } as const

/** A list with this function to fetch its pages. */
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
      // Otherwise an incomplete list would be taken for the whole.
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
