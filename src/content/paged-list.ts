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

/**
 * A list of the service: an iteration over all items, fetched page by page when needed, or one page. The iteration gives each item once.
 * When the list becomes shorter meanwhile, it goes back to the items that moved up.
 */
export interface PagedList<Item> extends AsyncIterable<Item> {
  /** One page. Rejects with an `ApiError`, or with a `TypeError` if the bounds are not whole numbers from 1. */
  page(bounds?: PageBounds): Promise<Page<Item>>
}

/** The defaults of the API. */
const firstPage = { from: 1, to: 20 } as const
/** The iteration gives up when the list has become shorter this often without a new item. */
const maxReturns = 20

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
    const seen = new Set<string>()
    // Otherwise an incomplete list would be taken for the whole.
    const incomplete = (why: string) =>
      new ApiError({ code: 'unreadable-answer', status: 200, message: `${what}: ${why}` })
    let from: number = firstPage.from
    for (let before = 0, returns = 0; ; ) {
      const { total, list } = await page({ from })
      const removed = before - total
      before = total
      if (removed > 0) {
        from = Math.max(firstPage.from, from - removed)
        if (++returns <= maxReturns) continue
        throw incomplete('became shorter again and again while it was read; list again when nobody changes it')
      }
      for (const item of list) {
        const name = nameOf(item)
        if (name !== undefined && seen.has(name)) continue
        if (name !== undefined) seen.add(name)
        returns = 0
        yield item
      }
      from += list.length
      if (from > total) return
      if (list.length === 0) throw incomplete(`the service counts ${total} and lists none from number ${from} on`)
    }
  }
  return { page, [Symbol.asyncIterator]: all }
}

function requirePosition(name: string, value: unknown): void {
  if (Number.isSafeInteger(value) && Number(value) >= 1) return
  throw argumentError(name, { expected: 'a whole number from 1', got: value })
}

/** Two items are the same one where this is equal: an archived content type may leave its key to a new one. */
function nameOf(item: unknown): string | undefined {
  const { id, key } = (item ?? {}) as { readonly id?: unknown; readonly key?: unknown }
  return id === undefined && key === undefined ? undefined : JSON.stringify([id, key])
}
