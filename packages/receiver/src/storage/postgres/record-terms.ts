import { createHash } from 'node:crypto'
import type { RecordFields, RecordKind } from '../record-storage.js'
import type { FieldCondition } from '../records/field-conditions.js'
import { maxNameLength } from '../records/named-fields.js'
import { type Phrase, wordsIn } from '../records/words.js'

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
} as const satisfies Record<FieldCondition['field'], string>
/** Stands for a space within a label. JSON has no such character. */
const space = '\u0001'

/**
 * The terms of a record, with a space before and after each: labels of its fields, and the words of its message in their order. Words are runs of
 * letters and digits, without case and accents. Each term begins with the mark of its lane, so that the index keeps the lanes apart.
 */
export function termsOf(lane: LaneName, record: RecordFields): string {
  const mark = markOf(lane)
  let terms = ''
  for (const field of Object.keys(signs) as FieldCondition['field'][]) {
    const value = record[field]
    if (value !== undefined) terms += ` ${mark}${labelOf(field, JSON.stringify(value))}`
  }
  for (const word of wordsIn(record.message ?? '')) terms += ` ${mark}${fitting(word)}`
  return `${terms} `
}

/** The terms of the values of a condition. */
export function termsOfCondition(lane: LaneName, { field, values }: FieldCondition): string[] {
  const mark = markOf(lane)
  return values.map((value) => `${mark}${labelOf(field, value)}`)
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

interface LaneName {
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

function labelOf(field: FieldCondition['field'], json: string): string {
  return fitting(`${signs[field]}${json.replaceAll(' ', space)}`)
}

function fitting(term: string): string {
  return term.length <= maxNameLength
    ? term
    : `${term.slice(0, maxNameLength - hashLength).toWellFormed()}${hashOf(term)}`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, hashLength)
}
