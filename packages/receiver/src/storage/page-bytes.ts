/** Largest page, in stored bytes. Several pages fit into memory at once, whatever their items are. */
export const maxPageBytes = 8 * 1_048_576

/** An item of a list with its size in the database, before it is read. */
export interface Sized {
  readonly bytes: number
}

/** The first items that fit into a page of this size; at least one. */
export function fitting<Item extends Sized>(items: readonly Item[], maxBytes = maxPageBytes): readonly Item[] {
  let bytes = 0
  const end = items.findIndex((item, index) => {
    bytes += item.bytes
    return index > 0 && bytes > maxBytes
  })
  return end === -1 ? items : items.slice(0, end)
}
