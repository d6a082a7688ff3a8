import { namedFields } from './named-fields.js'
import { earliestMs, hourMs, latestMs, minuteMs } from './record-times.js'
import type { Labels } from './written-records.js'

/** The caches are cleared when they reach this size. */
const maxParsed = 10_000
/** Longer labels are not kept: records with large ones would fill the memory. */
const maxParsedLength = 2000

/** A record as it is counted. */
export interface CountedRecord {
  /** Its `Labels` as JSON. */
  readonly labels: string
  readonly timeMs: number
}

/** The number of records with one value in one minute, one hour or all time. */
export interface CountTally {
  /** Length of the step, in ms; 0 for all time. */
  readonly stepMs: number
  /** Begin of the step; 0 for all time. */
  readonly atMs: number
  /** JSON. */
  readonly value: string
  readonly records: number
  readonly lastMs: number
}

/** The number of records with one value, as JSON, of a field. */
export interface NameTally {
  readonly field: string
  readonly name: string
  readonly records: number
}

/** The values that a record counts for, as JSON. */
interface Counted {
  readonly value: string
  readonly names: readonly (readonly [field: string, name: string])[]
}

interface Count {
  readonly atMs: number
  readonly value: string
  records: number
  lastMs: number
}

/** Counts the records of one lane and transaction: by value and time, and by the values of fields. */
export class Tallies {
  readonly #parsed = new Map<string, Counted>()

  counts(records: readonly CountedRecord[]): CountTally[] {
    const minutes = new Map<string, Count>()
    for (const { labels, timeMs } of records) {
      const lastMs = Math.min(Math.max(timeMs, earliestMs), latestMs)
      const atMs = Math.floor(lastMs / minuteMs) * minuteMs
      merge(minutes, { atMs, value: this.#counted(labels).value, records: 1, lastMs })
    }
    const hours = new Map<string, Count>()
    const all = new Map<string, Count>()
    for (const count of minutes.values()) {
      merge(hours, { ...count, atMs: Math.floor(count.atMs / hourMs) * hourMs })
      merge(all, { ...count, atMs: 0 })
    }
    const ofStep = (stepMs: number, counts: Map<string, Count>) =>
      [...counts.values()].map((count) => ({ stepMs, ...count }))
    return [...ofStep(minuteMs, minutes), ...ofStep(hourMs, hours), ...ofStep(0, all)]
  }

  /** @param isCounted looks at each field and value */
  names(
    records: readonly CountedRecord[],
    isCounted: (name: Pick<NameTally, 'field' | 'name'>) => boolean,
  ): NameTally[] {
    const labels = new Map<string, number>()
    for (const { labels: written } of records) labels.set(written, (labels.get(written) ?? 0) + 1)
    const added = new Map<string, NameTally>()
    for (const [written, number] of labels) {
      for (const [field, name] of this.#counted(written).names) {
        if (!isCounted({ field, name })) continue
        const key = `${field} ${name}`
        added.set(key, { field, name, records: number + (added.get(key)?.records ?? 0) })
      }
    }
    return [...added.values()]
  }

  #counted(written: string): Counted {
    const known = this.#parsed.get(written)
    if (known !== undefined) return known
    const [value, ...fields] = JSON.parse(written) as Labels
    const names = namedFields.flatMap((field, index) => {
      const name = fields[index]
      return name === null || name === undefined ? [] : [[field, JSON.stringify(name)] as const]
    })
    const counted = { value: JSON.stringify(value), names }
    if (written.length > maxParsedLength) return counted
    if (this.#parsed.size >= maxParsed) this.#parsed.clear()
    this.#parsed.set(written, counted)
    return counted
  }
}

function merge(counts: Map<string, Count>, count: Count): void {
  const key = `${count.atMs} ${count.value}`
  const known = counts.get(key)
  if (known === undefined) {
    counts.set(key, count)
    return
  }
  known.records += count.records
  known.lastMs = Math.max(known.lastMs, count.lastMs)
}
