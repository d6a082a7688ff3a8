import { earliestMs, latestMs } from '../../src/storage/records/record-times.js'
import { minuteMs, stepFor } from '../charts/steps.js'
import { momentOf } from '../view/times.js'
import type { View } from '../view/view.js'

const usualMs = 60 * minuteMs

/** A time range, cut into steps. Times are in ms. */
export interface ValueRange {
  readonly since: number
  /** Undefined for a range that ends now. */
  readonly until: number | undefined
  readonly stepMs: number
}

/** The time range of a view; the last hour where it names none. One that goes with the time begins with a step. */
export function valueRangeOf({ since, until }: Pick<View, 'since' | 'until'>, now: number): ValueRange {
  const end = clamped(momentOf(until, now))
  const start = clamped(momentOf(since, now)) ?? (end ?? now) - usualMs
  const stepMs = stepFor(Math.max(0, (end ?? now) - start))
  const isFixed = end !== undefined || (since !== undefined && !since.startsWith('-'))
  return { since: isFixed ? start : (Math.floor(start / stepMs) + 1) * stepMs, until: end, stepMs }
}

/** The starts of the steps of a range. */
export function startsOf({ since, until, stepMs }: ValueRange, now: number): number[] {
  const first = Math.floor(since / stepMs) * stepMs
  const length = Math.max(0, Math.ceil(((until ?? now) - first) / stepMs))
  return Array.from({ length }, (_, index) => first + index * stepMs)
}

function clamped(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.min(Math.max(ms, earliestMs), latestMs)
}
