import type { FieldDefinition } from '../schemas/content-types.js'
import type { ValidationError } from '../schemas/envelopes.js'
import { refusedMarkup } from './rich-text.js'

/** At most this many kinds of refused markup are named: a text can have a hundred thousand. */
const maxListed = 50

/** The failures of an entry's fields, one element each. */
export async function checkFields(
  fields: Readonly<Record<string, unknown>>,
  schema: readonly FieldDefinition[],
): Promise<ValidationError[]> {
  const failures: ValidationError[] = []
  for (const definition of schema) {
    const { key, required } = definition
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined
    const complaint =
      value === undefined || (value === null && required) ? missing(required) : await complaintOf(definition, value)
    if (complaint !== undefined)
      failures.push({ name: key, attemptedValue: value ?? null, message: `${key} ${complaint}` })
  }
  const known = new Set(schema.map(({ key }) => key))
  for (const [name, attemptedValue] of Object.entries(fields)) {
    if (!known.has(name))
      failures.push({ name, attemptedValue, message: `${name} is not a field of this content type` })
  }
  return failures
}

function missing(required: boolean): string | undefined {
  return required ? 'is required' : undefined
}

async function complaintOf({ type, maxLength }: FieldDefinition, value: unknown): Promise<string | undefined> {
  if (typeof value !== 'string') return `must be ${type}: a string`
  if (maxLength !== undefined && isLonger(value, maxLength)) return `must not have more than ${maxLength} characters`
  if (type !== 'richtext') return undefined
  const refused = await refusedMarkup(value)
  return refused.length === 0 ? undefined : `has markup that is not accepted: ${listed(refused)}`
}

function listed(refused: readonly string[]): string {
  const more = refused.length - maxListed
  return refused.slice(0, maxListed).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** Counts characters, not UTF-16 units: an emoji is one. */
function isLonger(text: string, maxLength: number): boolean {
  if (text.length <= maxLength) return false
  let characters = 0
  for (const _ of text) {
    if (++characters > maxLength) return true
  }
  return false
}
