/** Counting stops here where records must be counted one by one: the total of a page. */
export const maxTotal = 1000
/** Where no table has the counts by value and time, at most this number of records is looked at. */
export const maxCounted = 100_000
/** Facets read at most this many bytes of records. */
export const maxFacetBytes = 16 * 1_048_576
/** Largest batch of arrivals, in stored bytes. */
export const maxArrivalBytes = 1_048_576

/** Longest part of the ids that a search for the next records looks at, in records: so many are checked one by one without an index. */
const maxWindow = 4000

/** A search for the next records looks at parts of the ids that grow. */
export function nextWindow(records: number): number {
  return Math.min(4 * records, maxWindow)
}
