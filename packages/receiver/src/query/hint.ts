import { nearestName } from '../../../../src/options/nearest-name.js'
import { levelNames, severityOfName } from '../../../../src/records/level.js'
import type { Facets, RecordFilter, RecordReading } from '../storage/record-storage.js'
import { contextFields } from '../storage/records/context-fields.js'
import { queryOfFilter } from '../storage/records/filter-query.js'
import { withQuery } from '../storage/records/filter-with-query.js'
import type { OwnField, Query } from './query.js'
import { ownNames } from './query-field.js'
import { contextName, quoted } from './written-query.js'

/** So many conditions of a query are looked at. */
const maxConditions = 10
/** The names and values that occur are those of so many of the newest records. */
const sample = { fields: 500, values: 10_000 }
/** A look at one condition ends after this time, in ms. */
const patienceMs = 300
/** At most this number of known names is shown, each as long as this, and so much of the name that nobody has. */
const maxKnown = 10
const maxKnownLength = 60
const maxShown = 200

interface Source {
  readonly records: Pick<RecordReading, 'read' | 'facets'>
  readonly signal?: AbortSignal | undefined
}

/** A condition that no record of the bucket may meet: a field of the context, or values of a field of the record. */
type Asked = { readonly test: Query } & (
  | { readonly path: string; readonly text: string | undefined }
  | { readonly field: Exclude<OwnField, 'error'>; readonly value: string }
)

/**
 * Why a filter has found nothing: the first of its fields, levels and other values of a record's own fields that no record of the bucket has, with
 * those that occur and the nearest one. Undefined where each occurs. A level of common loggers is no mistake: nothing may have gone wrong yet.
 */
export async function hintFor(filter: RecordFilter, source: Source): Promise<string | undefined> {
  const query = queryOfFilter(filter)
  if (query === undefined) return undefined
  const none = `no record of bucket ${filter.bucket} has`
  const { kind, bucket } = filter
  for (const asked of askedIn(query).slice(0, maxConditions)) {
    const { list, incomplete } = await source.records.read(
      { ...withQuery({ kind, bucket }, asked.test), limit: 1, patienceMs },
      source.signal,
    )
    // A search that was cut does not know.
    if (list.length > 0 || incomplete === true) continue
    return 'path' in asked
      ? `${none} a field ${shown(asked.path)}${await fieldAdvice(asked, { filter, source })}`
      : `${none} ${asked.field} ${shown(asked.value)}${await valueAdvice(asked, { filter, source })}`
  }
  return hasSmallOr(query) ? 'or was looked for as a word: the operator is OR, in capital letters' : undefined
}

function askedIn(query: Query): Asked[] {
  switch (query.type) {
    case 'all':
    case 'any':
      return query.of.flatMap(askedIn)
    case 'value':
    case 'prefix':
    case 'number': {
      const { field } = query
      if (isOfContext(field)) {
        const path = field.slice(1)
        const text = query.type === 'value' ? String(JSON.parse(query.values[0]!)) : undefined
        return [{ test: { type: 'prefix', field, prefixes: [''] }, path, text }]
      }
      if (field === 'error' || query.type === 'number') return []
      if (query.type === 'prefix') return [{ test: query, field, value: begun(query.prefixes[0]!) }]
      return query.values
        .map((json) => String(JSON.parse(json)))
        .flatMap((value, at, all) => {
          const isLevel = field === 'level'
          const isSame = (other: string) => other === value || (isLevel && other.toLowerCase() === value.toLowerCase())
          if (all.findIndex(isSame) < at || (isLevel && severityOfName(value.toLowerCase()) !== undefined)) return []
          const values = query.values.filter((json) => isSame(String(JSON.parse(json))))
          return [{ test: { type: 'value', field, values }, field, value }]
        })
    }
    default:
      return []
  }
}

function isOfContext(field: string): field is `.${string}` {
  return field.startsWith('.')
}

/** The begin of a value as it was written, from the begin of its JSON. */
function begun(json: string): string {
  return json === '' ? '*' : `${JSON.parse(`${json}"`)}*`
}

/** People who know other languages look for the text of a record by these names. */
const messageNames = new Set(['message', 'msg', 'text', 'body'])

async function fieldAdvice(
  { path, text }: { readonly path: string; readonly text: string | undefined },
  { filter: { kind, bucket }, source }: { readonly filter: RecordFilter; readonly source: Source },
): Promise<string> {
  if (messageNames.has(path.toLowerCase())) {
    const words =
      text === undefined || text.length > maxShown
        ? ''
        : `: write ${/^[\p{L}\p{N}]+$/u.test(text) ? text : quoted(text)}`
    return `; words without a name are looked for in the message${words}`
  }
  const { list } = await source.records.read({ kind, bucket, limit: sample.fields }, source.signal)
  const counts = new Map<string, number>()
  for (const { message } of list) {
    const paths = new Set(contextFields(String(message ?? '')).map((field) => field.path))
    for (const each of paths) counts.set(each, (counts.get(each) ?? 0) + 1)
  }
  const known = mostFrequent(counts)
  const nearest = nearestField(path, known)
  const words = advice(known.map(contextName), nearest)
  const isText = nearest === undefined && text !== undefined && path.length + text.length <= maxShown
  return isText ? `${words}; to find the text, write ${quoted(`${path}:${text}`)}` : words
}

/** The name itself where it is a part of a field, then the most similar field, then one with a part that is similar or begins so. */
function nearestField(name: string, paths: readonly string[]): string | undefined {
  const small = name.toLowerCase()
  const partsOf = (path: string) => path.toLowerCase().split('.')
  const isBegin = (part: string) =>
    Math.min(part.length, small.length) >= 3 && (part.startsWith(small) || small.startsWith(part))
  const ofContext = (path: string | undefined) => (path === undefined ? undefined : contextName(path))
  return (
    ofContext(paths.find((path) => partsOf(path).includes(small))) ??
    nearestName(name, [...ownNames, ...paths.map(contextName)]) ??
    ofContext(paths.find((path) => nearestName(name, partsOf(path)) !== undefined)) ??
    ownNames.find(isBegin) ??
    ofContext(paths.find((path) => partsOf(path).some(isBegin)))
  )
}

const facetOf = {
  level: 'levels',
  appName: 'apps',
  env: 'envs',
  machineName: 'machines',
  appVersion: 'versions',
} as const satisfies Record<Exclude<OwnField, 'error' | 'eventId'>, keyof Facets>

async function valueAdvice(
  { field, value }: { readonly field: Exclude<OwnField, 'error'>; readonly value: string },
  { filter: { kind, bucket }, source }: { readonly filter: RecordFilter; readonly source: Source },
): Promise<string> {
  // Events are numbers: one is no hint at another.
  if (field === 'eventId') return ''
  const facets = await source.records.facets({ kind, bucket, limit: sample.values }, source.signal)
  const known = mostFrequent(Object.entries(facets[facetOf[field]]))
  return advice(known, nearestName(value, field === 'level' ? [...known, ...levelNames] : known))
}

function mostFrequent(counts: Iterable<readonly [name: string, count: number]>): string[] {
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([name]) => name)
}

function advice(known: readonly string[], nearest: string | undefined): string {
  const names = known.slice(0, maxKnown).map((name) => cut(name, maxKnownLength))
  const occurring = names.length === 0 ? '' : `; known: ${names.join(', ')}`
  return `${occurring}${nearest === undefined ? '' : `; did you mean ${cut(nearest, maxShown)}?`}`
}

function shown(name: string): string {
  return name === '' ? '""' : cut(name, maxShown)
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`
}

function hasSmallOr(query: Query): boolean {
  if (query.type === 'all' || query.type === 'any') return query.of.some(hasSmallOr)
  return query.type === 'words' && query.phrase.length === 1 && query.phrase[0] === 'or'
}
