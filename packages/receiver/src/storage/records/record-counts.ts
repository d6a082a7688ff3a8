import type { RecordCounts, StepCount, ValueCount } from '../record-storage.js'

/** The most frequent values are listed, at most this number. */
const maxValues = 1000
/** Most steps in an answer. */
const maxSteps = 10_000

/** Records of one value in one step. */
export interface CountRow {
  /** Beginning of the step, in ms. */
  readonly step: number
  /** JSON. */
  readonly value: string
  readonly records: number
  readonly firstMs: number
  readonly lastMs: number
}

/** Adds the rows up: by value, and by value and step. */
export function countsOf(rows: readonly CountRow[], stepMs: number | undefined): RecordCounts {
  const values = valuesOf(rows)
  const total = values.reduce((sum, { records }) => sum + records, 0)
  const listed = values.sort((a, b) => b.records - a.records).slice(0, maxValues)
  if (stepMs === undefined) return { total, values: listed, steps: [] }
  const steps = stepsOf(rows, new Set(listed.map(({ value }) => value)))
  if (steps.length > maxSteps) return { total, values: listed, steps: [], tooManySteps: steps.length }
  return { total, values: listed, steps }
}

function valuesOf(rows: readonly CountRow[]): ValueCount[] {
  const values = new Map<string, { records: number; lastMs: number }>()
  for (const { value, records, lastMs } of rows) {
    const known = values.get(value)
    if (known === undefined) values.set(value, { records, lastMs })
    else {
      known.records += records
      known.lastMs = Math.max(known.lastMs, lastMs)
    }
  }
  return [...values].map(([json, counted]) => ({ value: nameOf(json), ...counted }))
}

function stepsOf(rows: readonly CountRow[], listed: ReadonlySet<string>): StepCount[] {
  const steps = new Map<number, Map<string, number>>()
  for (const { step, value: json, records } of rows) {
    const value = nameOf(json)
    if (!listed.has(value)) continue
    const counts = steps.get(step) ?? new Map<string, number>()
    steps.set(step, counts.set(value, (counts.get(value) ?? 0) + records))
  }
  return [...steps].sort(([a], [b]) => a - b).map(([atMs, counts]) => ({ atMs, counts }))
}

function nameOf(json: string): string {
  return String(JSON.parse(json))
}
