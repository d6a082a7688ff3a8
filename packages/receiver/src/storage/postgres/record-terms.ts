import { createHash } from 'node:crypto'
import type { FieldName, OwnField } from '../../query/query.js'
import type { RecordFields, RecordKind } from '../record-storage.js'
import { contextFields } from '../records/context-fields.js'
import { errorKindOf } from '../records/error-kind.js'
import { maxNameLength } from '../records/named-fields.js'
import { messageWords, type Phrase } from '../records/words.js'

/** Letters of a hash at the end of a term that is cut: indexes take texts of limited length. */
const hashLength = 27
/** Labels of the fields that queries filter by. A word begins with no such sign. */
const signs = {
  level: '=v',
  eventId: '=i',
  appName: '=a',
  env: '=e',
  machineName: '=m',
  appVersion: '=r',
  error: '=x',
} as const satisfies Record<OwnField, string>
/** Of the context: a field that is there, and a field with its value behind the separator. */
const context = { field: '=k', value: '=c', separator: '\u0002' } as const
/** Stands for a space within a label. JSON has no such character, nor the separator. */
const space = '\u0001'

/**
 * The terms of a record, with a space before and after each: labels of its fields and those of its context, and the words of its message in their
 * order. Words are runs of letters and digits, without case and accents. Each term begins with the mark of its lane, so that the index keeps the
 * lanes apart.
 */
export function termsOf(lane: LaneName, record: RecordFields): string {
  const mark = markOf(lane)
  let terms = ''
  for (const field of Object.keys(signs) as OwnField[]) {
    const value = field === 'error' ? errorKindOf(record)?.id : record[field]
    if (value !== undefined) terms += ` ${mark}${labelOf(field, JSON.stringify(value))}`
  }
  if (record.message !== undefined) {
    const labels = new Set<string>()
    for (const { path, json } of contextFields(record.message)) {
      labels.add(`${mark}${fieldLabel(path)}`)
      if (json !== undefined) labels.add(`${mark}${valueLabel(path, json)}`)
    }
    for (const label of labels) terms += ` ${label}`
  }
  for (const word of messageWords(record.message)) terms += ` ${mark}${fitting(word)}`
  return `${terms} `
}

/** The terms of records whose field has one of the values. */
export function termsOfValue(
  lane: LaneName,
  { field, values }: { readonly field: FieldName; readonly values: readonly string[] },
): string[] {
  const mark = markOf(lane)
  return values.map((json) => `${mark}${isOwn(field) ? labelOf(field, json) : valueLabel(field.slice(1), json)}`)
}

/** How the term of a field begins whose JSON begins so. */
export function beginOf(lane: LaneName, { field, json }: { readonly field: FieldName; readonly json: string }): string {
  const begin = isOwn(field) ? `${signs[field]}${spaceless(json)}` : valueLabel(field.slice(1), json)
  return `${markOf(lane)}${begin}`
}

/** The term of records that have the field of the context; undefined for an own field. */
export function termOfContext(lane: LaneName, field: FieldName): string | undefined {
  return isOwn(field) ? undefined : `${markOf(lane)}${fieldLabel(field.slice(1))}`
}

/** The terms of a phrase. */
export function termsOfPhrase(lane: LaneName, phrase: Phrase): string[] {
  const mark = markOf(lane)
  return phrase.map((word) => `${mark}${fitting(word)}`)
}

/** A value, as JSON, of limited length. A longer one ends with its hash. */
export function countedName(value: string): string {
  if (value.length <= maxNameLength) return value
  const text = String(JSON.parse(value))
  // A pair of code units may be cut. JSON keeps both halves apart.
  return JSON.stringify(`${text.slice(0, maxNameLength - hashLength)}…${hashOf(value)}`)
}

export interface LaneName {
  readonly bucket: string
  readonly kind: RecordKind
}

const marks = new Map<string, string>()
const maxMarks = 1000

/** Two lanes may have the same mark: every query names the lane as well. */
function markOf({ bucket, kind }: LaneName): string {
  const name = `${kind} ${bucket}`
  let mark = marks.get(name)
  if (mark === undefined) {
    mark = createHash('sha256').update(name).digest('base64url').slice(0, 4)
    if (marks.size >= maxMarks) marks.clear()
    marks.set(name, mark)
  }
  return mark
}

function isOwn(field: FieldName): field is OwnField {
  return !field.startsWith('.')
}

function labelOf(field: OwnField, json: string): string {
  return fitting(`${signs[field]}${spaceless(json)}`)
}

/** Contexts have names and values of limited length: an index takes them as they are. */
function fieldLabel(path: string): string {
  return `${context.field}${spaceless(JSON.stringify(path))}`
}

function valueLabel(path: string, json: string): string {
  return `${context.value}${spaceless(JSON.stringify(path))}${context.separator}${spaceless(json)}`
}

/** JSON escapes all other characters that could end a term. */
function spaceless(json: string): string {
  return json.replaceAll(' ', space)
}

function fitting(term: string): string {
  return term.length <= maxNameLength
    ? term
    : `${term.slice(0, maxNameLength - hashLength).toWellFormed()}${hashOf(term)}`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, hashLength)
}
