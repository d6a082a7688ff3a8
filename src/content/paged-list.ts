import { ownFields } from '../runtime/own-fields.js'
import { ApiError, argumentError } from './api-error.js'

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

/** A list of the service: an iteration over all items, fetched page by page when needed, or one page. */
export interface PagedList<Item> extends AsyncIterable<Item> {
  /** One page. Rejects with an `ApiError`, or with a `TypeError` if the bounds are not whole numbers from 1. */
  page(bounds?: PageBounds): Promise<Page<Item>>
}

/** The defaults of the API. */
const firstPage = { from: 1, to: 20 } as const

/** A list with this function to fetch its pages. `what` is the operation, for messages. */
export function pagedList<Item>(
  what: string,
  fetchPage: (bounds: Required<PageBounds>) => Promise<Page<Item>>,
): PagedList<Item> {
  const page = async (bounds?: PageBounds) => {
    const { from = firstPage.from, to = firstPage.to } = ownFields(bounds)
    requirePosition('from', from)
    requirePosition('to', to)
    return await fetchPage({ from, to })
  }
  async function* all(): AsyncGenerator<Item, void> {
    let from: number = firstPage.from
    for (;;) {
      const { total, list } = await page({ from })
      yield* list
      from += list.length
      if (from > total) return
      if (list.length > 0) continue
      // Otherwise an incomplete list would be taken for the whole.
      const message = `${what}: the service counts ${total} and lists none from number ${from} on`
      throw new ApiError({ code: 'unreadable-answer', status: 200, message })
    }
  }
  return { page, [Symbol.asyncIterator]: all }
}

function requirePosition(name: string, value: unknown): void {
  if (Number.isSafeInteger(value) && Number(value) >= 1) return
  throw argumentError(name, { expected: 'a whole number from 1', got: value })
}
