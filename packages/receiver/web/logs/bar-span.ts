import { earliestMs, latestMs } from '../../src/storage/records/record-times.js'
import { type LogRecord, timeOf } from '../api/records.js'
import type { RecordFilter } from './record-filter.js'

const earliestLikelyMs = Date.UTC(2000, 0)
const dayMs = 86_400_000

interface Span {
  readonly first: number
  readonly last: number
}

/** The time at which bars count a record: as the receiver does, within the years 0 to 9999. */
export function barTime(record: LogRecord): number {
  return Math.min(Math.max(timeOf(record), earliestMs), latestMs)
}

/**
 * The first and the last of the times, or of the starts of steps, over which bars stand. Times that no right clock shows do not count, unless the
 * view names them or there are no others: one record of the year 9999 would flatten the bars of all others.
 */
export function barSpan(
  times: readonly number[],
  { since, until, stepMs = 1 }: Partial<Pick<RecordFilter, 'since' | 'until'>> & { readonly stepMs?: number },
): Span | undefined {
  const [from, to] = [since ?? earliestLikelyMs, until ?? Date.now() + dayMs]
  return spanOf(times.filter((time) => time + stepMs > from && time < to)) ?? spanOf(times)
}

function spanOf(times: readonly number[]): Span | undefined {
  if (times.length === 0) return undefined
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (const time of times) {
    if (time < first) first = time
    if (time > last) last = time
  }
  return { first, last }
}
