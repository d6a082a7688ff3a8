import type { Facets, RecordFields } from '../record-storage.js'

/** The most frequent values of a field are listed, at most this number. */
const maxValues = 100
/** A longer value is not listed. */
const maxCharacters = 200

/**
 * Counts the values of each field that a person filters by.
 *
 * @param records JSON of each record
 */
export function facetsOf(records: readonly string[]): Facets {
  const fields = {
    levels: new Map<string, number>(),
    apps: new Map<string, number>(),
    machines: new Map<string, number>(),
    envs: new Map<string, number>(),
    versions: new Map<string, number>(),
    eventIds: new Map<string, number>(),
  }
  for (const json of records) {
    const { level, appName, machineName, env, appVersion, eventId } = JSON.parse(json) as RecordFields
    const values = {
      levels: level,
      apps: appName,
      machines: machineName,
      envs: env,
      versions: appVersion,
      eventIds: eventId,
    }
    for (const [name, value] of Object.entries(values) as [keyof Facets, string | number | undefined][]) {
      if (value === undefined || String(value).length > maxCharacters) continue
      fields[name].set(String(value), (fields[name].get(String(value)) ?? 0) + 1)
    }
  }
  return Object.fromEntries(Object.entries(fields).map(([name, counts]) => [name, mostFrequent(counts)])) as Facets
}

/** `fromEntries` makes own properties of every name, `__proto__` included. */
function mostFrequent(counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a).slice(0, maxValues))
}
