import type { ContentTypeChangeBody } from '../schemas/content-types.js'
import type { ValidationError } from '../schemas/envelopes.js'

/** What the JSON schema cannot say of a content type: keys are different from one another, and `displayField` is one of them. */
export function checkType({ schema, displayField }: ContentTypeChangeBody): ValidationError[] {
  const keys = schema.map(({ key }) => key)
  const repeated = keys.flatMap((key, index) =>
    keys.indexOf(key) === index
      ? []
      : [
          {
            name: `schema.${index}.key`,
            attemptedValue: key,
            message: `schema.${index}.key is the key of another field, too`,
          },
        ],
  )
  if (displayField === undefined || keys.includes(displayField)) return repeated
  const message = 'displayField must be the key of a field of the schema'
  return [...repeated, { name: 'displayField', attemptedValue: displayField, message }]
}
