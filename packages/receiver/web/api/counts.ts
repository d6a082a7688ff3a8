import { type RequestOptions, request } from './requests.js'

/** Numbers of records by the value of a field. */
export type Numbers = Readonly<Record<string, number>>

/** Counts of the records that match, by level or by event. */
export interface RecordCounts {
  readonly total: number
  readonly totals: Numbers
  /** The newest time of each value, in ISO 8601. */
  readonly lastSeen: Readonly<Record<string, string>>
  /** Steps that have records, oldest first. */
  readonly list?: readonly { readonly time: string; readonly counts: Numbers }[]
  /** Records of further values: the answer has the most frequent ones. */
  readonly others?: number
  /** Counting has stopped here: records from before are not in the counts. */
  readonly countedSince?: string
}

/** Asks the receiver for counts. */
export function readCounts(
  place: `${'logs' | 'values'}/${string}`,
  query: URLSearchParams,
  options: RequestOptions,
): Promise<RecordCounts> {
  return request(`/api/${place}/counts?${query}`, options)
}
