import type { Facets, RecordCounts, RecordPage, StepCount, UnknownValue, ValueCount } from '../record-storage.js'

/** The newest records of the pages of several shards, as one page. Each page was read with the same `limit`. */
export function mergedPages(pages: readonly RecordPage[], limit: number): RecordPage {
  // Behind the end of a page that was cut its shard may have newer records than the others.
  const end = Math.max(0, ...pages.flatMap(({ next }) => (next === undefined ? [] : [next])))
  const all = pages.flatMap((page) => page.list).sort((one, other) => other.id - one.id)
  const list = all.filter(({ id }) => id >= end).slice(0, limit)
  const isCut = end > 0 && list.length < limit
  const unknown = unknownIn(pages)
  return {
    total: pages.reduce((sum, { total }) => sum + total, 0),
    ...(pages.some(({ totalIsAtLeast }) => totalIsAtLeast === true) ? { totalIsAtLeast: true } : {}),
    list,
    ...(isCut ? { next: list.at(-1)!.id } : {}),
    ...(unknown === undefined ? {} : { unknown }),
  }
}

/** The first value that no shard knows. */
function unknownIn(pages: readonly RecordPage[]): UnknownValue | undefined {
  const [first, ...others] = pages.map(({ unknown }) => unknown)
  if (first === undefined) return undefined
  const isSame = (other: UnknownValue | undefined) => other?.field === first.field && other.value === first.value
  if (!others.every(isSame)) return undefined
  return { ...first, known: [...new Set(pages.flatMap(({ unknown }) => unknown?.known ?? []))].slice(0, 10) }
}

export function mergedCounts(counts: readonly RecordCounts[]): RecordCounts {
  const values = new Map<string, ValueCount>()
  for (const { value, records, lastMs } of counts.flatMap((each) => each.values)) {
    const known = values.get(value)
    values.set(value, {
      value,
      records: records + (known?.records ?? 0),
      lastMs: Math.max(lastMs, known?.lastMs ?? lastMs),
    })
  }
  const tooMany = Math.max(0, ...counts.map(({ tooManySteps }) => tooManySteps ?? 0))
  const since = counts.flatMap(({ countedSinceMs }) => countedSinceMs ?? [])
  return {
    total: counts.reduce((sum, { total }) => sum + total, 0),
    values: [...values.values()].sort((one, other) => other.records - one.records).slice(0, 1000),
    steps: tooMany > 0 ? [] : mergedSteps(counts),
    ...(tooMany > 0 ? { tooManySteps: tooMany } : {}),
    ...(since.length > 0 ? { countedSinceMs: Math.max(...since) } : {}),
  }
}

function mergedSteps(counts: readonly RecordCounts[]): StepCount[] {
  const steps = new Map<number, Map<string, number>>()
  for (const { atMs, counts: ofStep } of counts.flatMap((each) => each.steps)) {
    const known = steps.get(atMs) ?? new Map<string, number>()
    for (const [value, records] of ofStep) known.set(value, (known.get(value) ?? 0) + records)
    steps.set(atMs, known)
  }
  return [...steps].sort(([one], [other]) => one - other).map(([atMs, ofStep]) => ({ atMs, counts: ofStep }))
}

export function mergedFacets(facets: readonly Facets[]): Facets {
  const fields = Object.keys(facets[0] ?? {}) as (keyof Facets)[]
  const merged = fields.map((field) => {
    const counts = new Map<string, number>()
    for (const [value, records] of facets.flatMap((each) => Object.entries(each[field]))) {
      counts.set(value, (counts.get(value) ?? 0) + records)
    }
    return [field, Object.fromEntries([...counts].sort(([, one], [, other]) => other - one).slice(0, 100))]
  })
  return Object.fromEntries(merged) as Facets
}
