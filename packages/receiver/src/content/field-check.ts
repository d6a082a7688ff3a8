import type { FieldDefinition } from '../schemas/content-types.js'
import type { ValidationError } from '../schemas/envelopes.js'
import { refusedMarkup } from './rich-text.js'

/** At most this many kinds of refused markup are named: a text can have a hundred thousand. */
const maxListed = 50

/** All failures of an entry's fields, one element each. */
export function checkFields(
  fields: Readonly<Record<string, unknown>>,
  schema: readonly FieldDefinition[],
): ValidationError[] {
  const definitions = new Map(schema.map((definition) => [definition.key, definition]))
  const missing = schema.filter(
    ({ key, required }) => required && (!Object.hasOwn(fields, key) || fields[key] === null),
  )
  return [
    ...missing.map(({ key }) => ({ name: key, attemptedValue: null, message: `${key} is required` })),
    ...Object.entries(fields).flatMap(([name, attemptedValue]) => {
      const definition = definitions.get(name)
      if (definition !== undefined && missing.includes(definition)) return []
      const complaints =
        definition === undefined ? ['is not a field of this content type'] : check(definition, attemptedValue)
      return complaints.map((complaint) => ({ name, attemptedValue, message: `${name} ${complaint}` }))
    }),
  ]
}

function check({ type, maxLength }: FieldDefinition, value: unknown): string[] {
  if (typeof value !== 'string') return [`must be ${type}: a string`]
  const complaints: string[] = []
  if (maxLength !== undefined && isLonger(value, maxLength)) {
    complaints.push(`must not have more than ${maxLength} characters`)
  }
  if (type === 'richtext') {
    const refused = refusedMarkup(value)
    if (refused.length > 0) complaints.push(`has markup that is not accepted: ${listed(refused)}`)
  }
  return complaints
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
