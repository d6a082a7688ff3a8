import type { FieldName, OwnField } from '../../query/query.js'
import type { RecordFields } from '../record-storage.js'
import type { ContextField } from '../records/context-fields.js'
import { errorKindOf } from '../records/error-kind.js'

/** Longer values of a record's own fields are cut, in characters of their JSON. Rows must be checked again for them. */
const maxValueLength = 100
/** Stands behind the lane in a label. */
const letters = {
  level: 'v',
  eventId: 'i',
  appName: 'a',
  env: 'e',
  machineName: 'm',
  appVersion: 'r',
  error: 'x',
} as const
const ownFields = Object.entries(letters) as [OwnField, string][]
/** Of the context: a field that is there, and a field with its value. No escaped character begins with the separator. */
const ofContext = { field: 'k', value: 'c', separator: 'zy' } as const

/**
 * The labels of a record in the text index: one for its lane, one for each of its own fields, and up to two for each field of its context.
 * `l3az22shopz22` is `"shop"`, the name of the application in lane 3.
 */
export function labelsOf(
  lane: number,
  { fields, context }: { readonly fields: RecordFields; readonly context: readonly ContextField[] },
): string {
  const labels = new Set([laneLabel(lane)])
  for (const [field, letter] of ownFields) {
    const value = field === 'error' ? errorKindOf(fields)?.id : fields[field]
    if (value !== undefined) labels.add(`l${lane}${letter}${written(JSON.stringify(value).slice(0, maxValueLength))}`)
  }
  for (const { path, json } of context) {
    labels.add(fieldLabel(lane, path))
    if (json !== undefined) labels.add(`${valueLabel(lane, path)}${written(json)}`)
  }
  return [...labels].join(' ')
}

export function laneLabel(lane: number): string {
  return `l${lane}`
}

/** The label of a value of a field; or its begin, for a begin of the JSON. */
export function labelOf(lane: number, { field, json }: { readonly field: FieldName; readonly json: string }): string {
  return isOwn(field)
    ? `l${lane}${letters[field]}${written(json.slice(0, maxValueLength))}`
    : `${valueLabel(lane, field.slice(1))}${written(json)}`
}

/** The label of all records that have the field of the context; undefined for an own field. */
export function labelOfField(lane: number, field: FieldName): string | undefined {
  return isOwn(field) ? undefined : fieldLabel(lane, field.slice(1))
}

/** True for JSON of a field that its label does not tell from all others. */
export function isCut(field: FieldName, json: string): boolean {
  return isOwn(field) && json.length > maxValueLength
}

function isOwn(field: FieldName): field is OwnField {
  return !field.startsWith('.')
}

function fieldLabel(lane: number, path: string): string {
  return `l${lane}${ofContext.field}${writtenPath(path)}`
}

function valueLabel(lane: number, path: string): string {
  return `l${lane}${ofContext.value}${writtenPath(path)}${ofContext.separator}`
}

/** Paths come again and again. They are forgotten when there are this many. */
const maxPaths = 10_000
const paths = new Map<string, string>()

function writtenPath(path: string): string {
  let found = paths.get(path)
  if (found === undefined) {
    found = written(JSON.stringify(path))
    if (paths.size >= maxPaths) paths.clear()
    paths.set(path, found)
  }
  return found
}

const escaped = Array.from({ length: 256 }, (_, code) => `z${code.toString(16).padStart(2, '0')}`)

/** A text in small letters and digits: the index takes it as one word, whose begin is that of the text. Two texts are never written alike. */
function written(text: string): string {
  return text.replace(/[^a-y0-9]/g, (sign) => {
    const code = sign.charCodeAt(0)
    return escaped[code] ?? `zz${code.toString(16).padStart(4, '0')}`
  })
}
