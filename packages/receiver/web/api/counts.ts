import type { RecordCounts } from '../../src/client/record-counts.js'
import { type RequestOptions, request } from './requests.js'

/** Numbers of records by the value of a field. */
export type Numbers = Readonly<Record<string, number>>

/** Asks the receiver for counts. */
export function readCounts(
  place: `${'logs' | 'values'}/${string}`,
  query: URLSearchParams,
  options: RequestOptions,
): Promise<RecordCounts> {
  return request(`/api/${place}/counts?${query}`, options)
}
