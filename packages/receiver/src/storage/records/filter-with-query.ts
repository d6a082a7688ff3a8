import type { Query } from '../../query/query.js'
import type { RecordFilter } from '../record-storage.js'

/**
 * The filter with a query. What the query says of own fields and times becomes a part of the filter, as far as it can: tables have the counts
 * of these.
 */
export function withQuery(filter: RecordFilter, query: Query | undefined): RecordFilter {
  if (query === undefined) return filter
  let left = filter
  const others: Query[] = []
  for (const each of query.type === 'all' ? query.of : [query]) {
    const merged = mergedWith(left, each)
    if (merged === undefined) others.push(each)
    else left = merged
  }
  if (others.length === 0) return left
  return { ...left, query: others.length === 1 ? others[0] : { type: 'all', of: others } }
}

/** Undefined for a query that the filter has no room for. */
function mergedWith(filter: RecordFilter, query: Query): RecordFilter | undefined {
  if (query.type === 'time') {
    const since = Math.max(filter.since ?? -Infinity, query.since ?? -Infinity)
    const until = Math.min(filter.until ?? Infinity, query.until ?? Infinity)
    return {
      ...filter,
      since: since === -Infinity ? undefined : since,
      until: until === Infinity ? undefined : until,
    }
  }
  if (query.type !== 'value' || query.field.startsWith('.') || query.field === 'error') return undefined
  const values = query.values.map((json) => JSON.parse(json))
  if (query.field === 'level') return { ...filter, levelRanges: [...(filter.levelRanges ?? []), values] }
  const field = query.field as 'eventId' | 'appName' | 'env' | 'machineName' | 'appVersion'
  return filter[field] === undefined && values.length === 1 ? { ...filter, [field]: values[0] } : undefined
}
