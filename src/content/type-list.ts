import { ApiError } from './api-error.js'
import { argumentError } from './argument-error.js'
import type { ContentTypeInfo } from './content-type.js'

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
