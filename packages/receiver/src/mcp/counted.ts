import { named } from './quoted-data.js'
import type { Body } from './tool.js'

/** Counts of the API: of logs by level, or of values by event. */
export interface Counts {
  readonly total: number
  readonly totals: Readonly<Record<string, number>>
  readonly lastSeen: Readonly<Record<string, string>>
  readonly list?: readonly Step[]
  readonly others?: number
  readonly countedSince?: string
}

/** A step of time, with the records in it by their values. */
export interface Step {
  readonly time: string
  readonly counts: Readonly<Record<string, number>>
}

export function countsOf(body: Body): Counts {
  return body as object as Counts
}

/** Values with their numbers, the most frequent first. Stores order equal ones as they like. */
export function pairsOf(counts: Readonly<Record<string, number>>): (readonly [string, number])[] {
  return Object.entries(counts).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
}

/** The most frequent values in words. */
export function countsText(
  counts: Readonly<Record<string, number>>,
  { most = maxShown, nameOf = named }: { readonly most?: number; nameOf?(value: string): string } = {},
): string {
  const pairs = pairsOf(counts)
  const shown = pairs.slice(0, most).map(([value, count]) => `${nameOf(value)} ${count}`)
  return [...shown, ...(pairs.length > most ? [`and ${pairs.length - most} more`] : [])].join(', ')
}

/** What the counts leave out. */
export function gapsOf({ others, countedSince }: Counts): (string | undefined)[] {
  return [
    others === undefined ? undefined : `${others} records of rarer values are not listed.`,
    countedSince === undefined
      ? undefined
      : `Counting has stopped: records before ${countedSince} are not counted. A shorter time is counted in full.`,
  ]
}

/** Steps before a time, newest first. */
export function stepsBefore(steps: readonly Step[], cursor: string | undefined): Step[] {
  return steps.filter(({ time }) => cursor === undefined || time < cursor).toReversed()
}

const maxShown = 8
