import type { CountedStep, RecordCounts } from '../client/record-counts.js'
import { named } from './quoted-data.js'
import type { Body } from './tool.js'

export function countsOf(body: Body): RecordCounts {
  return body as object as RecordCounts
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
export function gapsOf({ others, countedSince }: RecordCounts): (string | undefined)[] {
  return [
    others === undefined ? undefined : `${others} records of rarer values are not listed.`,
    countedSince === undefined
      ? undefined
      : `Counting has stopped: records before ${countedSince} are not counted. A shorter time is counted in full.`,
  ]
}

/** Steps before a time, newest first. */
export function stepsBefore(steps: readonly CountedStep[], cursor: string | undefined): CountedStep[] {
  return steps.filter(({ time }) => cursor === undefined || time < cursor).toReversed()
}

const maxShown = 8
