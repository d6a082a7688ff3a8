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
  const definitions = new Map(schema.map((definition) => [definition.key, definition]))
  const missing = schema.filter(
    ({ key, required }) => required && (!Object.hasOwn(fields, key) || fields[key] === null),
  )
  const failures = missing.map(({ key }) => failure(key, null, 'is required'))
  for (const [name, value] of Object.entries(fields)) {
    const definition = definitions.get(name)
    if (definition === undefined) failures.push(failure(name, value, 'is not a field of this content type'))
    else if (!missing.includes(definition)) {
      const complaint = await complaintOf(definition, value)
      if (complaint !== undefined) failures.push(failure(name, value, complaint))
    }
  }
  return failures
}

function failure(name: string, attemptedValue: unknown, complaint: string): ValidationError {
  return { name, attemptedValue, message: `${name} ${complaint}` }
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
