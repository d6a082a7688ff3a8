import type { Facets } from '../record-storage.js'
import type { SeriesFields } from './written-records.js'

/** Records of one series, machine and version. The last two are JSON. */
export interface FacetRow {
  readonly series: string
  readonly machine: string | null
  readonly version: string | null
  readonly records: number
}

/** Only so many values of a field are listed: the most frequent. */
const maxValues = 100
/** A longer value is not listed. */
const maxCharacters = 200

/** Counts the values of each field that a person filters by. */
export function facetsOf(rows: readonly FacetRow[]): Facets {
  const fields = {
    levels: new Map<string, number>(),
    apps: new Map<string, number>(),
    machines: new Map<string, number>(),
    envs: new Map<string, number>(),
    versions: new Map<string, number>(),
    eventIds: new Map<string, number>(),
  }
  for (const { series, machine, version, records } of rows) {
    const [levels, eventIds, apps, envs] = JSON.parse(series) as SeriesFields
    const values = { levels, apps, machines: parsed(machine), envs, versions: parsed(version), eventIds }
    for (const [name, value] of Object.entries(values) as [keyof Facets, string | number | null][]) {
      if (value === null || String(value).length > maxCharacters) continue
      fields[name].set(String(value), (fields[name].get(String(value)) ?? 0) + records)
    }
  }
  return Object.fromEntries(Object.entries(fields).map(([name, counts]) => [name, mostFrequent(counts)])) as Facets
}

function parsed(json: string | null): string | null {
  return json === null ? null : (JSON.parse(json) as string)
}

/** `fromEntries` makes own properties of every name, `__proto__` included. */
function mostFrequent(counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a).slice(0, maxValues))
}
