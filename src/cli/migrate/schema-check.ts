import type { FieldDefinition } from '../../content/content-type.js'
import { kindOf } from './entry-line.js'

/** Types whose values are texts. Of others the API says nothing, so that every value may be right. */
const textTypes: ReadonlySet<string> = new Set(['text', 'richtext'])

/** What is wrong with the fields of an entry by the schema of its content type; nothing when they satisfy it. */
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

/** A character beyond the first plane takes two places of a text. */
function charactersOf(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
