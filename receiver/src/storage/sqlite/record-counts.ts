import type { RecordCounts, StepCount, ValueCount } from '../record-storage.js'

/** Only so many values are listed: the most frequent. */
const maxValues = 1000
/** Most steps in an answer. */
const maxSteps = 10_000

/** Records of one value in one minute, or in a longer time that begins with it. */
export interface CountRow {
  readonly at: number
  /** JSON. */
  readonly value: string
  readonly records: number
  readonly lastMs: number
}

/** Adds the rows up: by value, and by value and step. */
export function countsOf(rows: readonly CountRow[], stepMs: number | undefined): RecordCounts {
  const values = valuesOf(rows)
  const total = [...values.values()].reduce((sum, { records }) => sum + records, 0)
  const listed = [...values.values()].sort((a, b) => b.records - a.records).slice(0, maxValues)
  if (stepMs === undefined) return { total, values: listed, steps: [] }
  const steps = stepsOf(rows, { names: new Set(listed.map(({ value }) => value)), stepMs })
  if (steps.length > maxSteps) return { total, values: listed, steps: [], tooManySteps: steps.length }
  return { total, values: listed, steps }
}

function valuesOf(rows: readonly CountRow[]): Map<string, ValueCount> {
  const values = new Map<string, ValueCount>()
  for (const { value: json, records, lastMs } of rows) {
    const known = values.get(json) ?? { value: String(JSON.parse(json)), records: 0, lastMs }
    values.set(json, { ...known, records: known.records + records, lastMs: Math.max(known.lastMs, lastMs) })
  }
  return values
}

function stepsOf(
  rows: readonly CountRow[],
  { names, stepMs }: { readonly names: ReadonlySet<string>; readonly stepMs: number },
): StepCount[] {
  const steps = new Map<number, Map<string, number>>()
  for (const { at, value: json, records } of rows) {
    const atMs = Math.floor(at / stepMs) * stepMs
    const counts = steps.get(atMs) ?? new Map<string, number>()
    steps.set(atMs, counts)
    const value = String(JSON.parse(json))
    if (names.has(value)) counts.set(value, (counts.get(value) ?? 0) + records)
  }
  return [...steps].sort(([a], [b]) => a - b).map(([atMs, counts]) => ({ atMs, counts }))
}
