/** Most bytes of what one page lists, as it is stored: a few pages fit into memory at once, whatever their records are like. */
export const maxPageBytes = 8 * 1_048_576

/** An item of a list before it is read, with the bytes that it takes in the database. */
export interface Sized {
  readonly bytes: number
}

/** As many of the first items as a page has room for, at least one. */
export function fitting<Item extends Sized>(items: readonly Item[]): readonly Item[] {
  let bytes = 0
  const end = items.findIndex((item, index) => {
    bytes += item.bytes
    return index > 0 && bytes > maxPageBytes
  })
  return end === -1 ? items : items.slice(0, end)
}
