import { isUtf8 } from 'node:buffer'
import type { FieldDefinition } from '../../../../src/content/content-type.js'
import { nearestName } from '../../../../src/options/nearest-name.js'
import { type Line, maxLineBytes, textOfLine } from '../line-splitter.js'

/** A line of the file: an entry, blank, or not valid. */
export type EntryLine =
  | {
      readonly type: 'entry'
      /** The text of the line, used as the body of the request, so that no number loses a digit. */
      readonly body: string
      readonly fields: Readonly<Record<string, unknown>>
      /** Key or id of another content type than that of the command. */
      readonly contentTypeKey: string | undefined
    }
  | { readonly type: 'blank' }
  | { readonly type: 'invalid'; readonly reasons: readonly string[] }

const times = ['createdAt', 'updatedAt', 'publishedAt'] as const
const members: readonly string[] = ['fields', 'contentTypeKey', ...times]

/** Read a line: `{fields, contentTypeKey?, createdAt?, updatedAt?, publishedAt?}`. Other members are refused, because they would be lost without a message. */
export function readEntry(line: Line): EntryLine {
  if (line.tooLong) return invalid(`the line is longer than ${maxLineBytes} bytes`)
  if (!isUtf8(line.bytes)) return invalid('the line is not UTF-8')
  const text = textOfLine(line)
  if (text.trim() === '') return { type: 'blank' }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return invalid(`the line is not JSON: ${(error as Error).message}`)
  }
  if (!isObject(value)) return invalid(`expected an object, got ${kindOf(value)}`)
  const { fields, contentTypeKey } = value
  const reasons = [
    ...Object.keys(value).flatMap((name) => (members.includes(name) ? [] : [unknownMember(name)])),
    ...(isObject(fields) ? [] : [`fields: expected an object, got ${kindOf(fields)}`]),
    ...(isKey(contentTypeKey) ? [] : [`contentTypeKey: expected a key or id, got ${shown(contentTypeKey)}`]),
    ...times.flatMap((name) =>
      value[name] === undefined || isUtcTime(value[name]) ? [] : [wrongTime(name, value[name])],
    ),
  ]
  if (reasons.length > 0 || !isObject(fields) || !isKey(contentTypeKey)) return { type: 'invalid', reasons }
  return { type: 'entry', body: text, fields, contentTypeKey }
}

function invalid(reason: string): EntryLine {
  return { type: 'invalid', reasons: [reason] }
}

function unknownMember(name: string): string {
  const nearest = nearestName(name, members)
  return `${name}: expected ${members.join(', ')}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
}

function wrongTime(name: string, value: unknown): string {
  return `${name}: expected a time in UTC such as 2024-05-01T12:00:00Z, got ${shown(value)}`
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : kindOf(value)
}

function isKey(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && value !== '')
}

/** ISO 8601 in UTC, of a day that exists. */
function isUtcTime(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)$/.test(value)) return false
  const time = new Date(value)
  return !Number.isNaN(time.getTime()) && time.toISOString().slice(0, 10) === value.slice(0, 10)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The type of a JSON value, for a message. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`
}

/** Types whose values are texts. The API does not define the values of other types, so every value is accepted. */
const textTypes: ReadonlySet<string> = new Set(['text', 'richtext'])

/** The violations of the schema of a content type by the fields of an entry. */
export function violations(
  fields: Readonly<Record<string, unknown>>,
  schema: readonly FieldDefinition[],
): readonly string[] {
  const known = new Set(schema.map(({ key }) => key))
  return [
    ...Object.keys(fields).flatMap((name) => (known.has(name) ? [] : [`${name}: is no field of the content type`])),
    ...schema.flatMap((definition) => {
      const value = Object.hasOwn(fields, definition.key) ? fields[definition.key] : undefined
      return violation(value, definition) ?? []
    }),
  ]
}

function violation(
  value: unknown,
  { key, type, required, maxLength = Number.POSITIVE_INFINITY }: FieldDefinition,
): string | undefined {
  if (value === undefined || (value === null && required)) return required ? `${key}: is required` : undefined
  if (!textTypes.has(type)) return undefined
  if (typeof value !== 'string') return `${key}: expected a text, got ${kindOf(value)}`
  const length = value.length > maxLength ? charactersOf(value) : 0
  return length > maxLength ? `${key}: expected at most ${maxLength} characters, got ${length}` : undefined
}

/** Counts code points: a character above U+FFFF has a length of 2. */
function charactersOf(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
