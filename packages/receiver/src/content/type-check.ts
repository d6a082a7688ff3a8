import type { ContentTypeChangeBody } from '../schemas/content-types.js'
import type { ValidationError } from '../schemas/envelopes.js'

/**
 * Checks the rules that a JSON schema cannot express: field keys are unique, `displayField` is one of them, and a change does not rename
 * the type.
 */
export function checkType(type: ContentTypeChangeBody, ownKey: string | undefined): ValidationError[] {
  return [...checkOwnKey(type, ownKey), ...checkFieldKeys(type)]
}

function checkOwnKey({ key }: ContentTypeChangeBody, ownKey: string | undefined): ValidationError[] {
  if (key === undefined || ownKey === undefined || key === ownKey) return []
  return [{ name: 'key', attemptedValue: key, message: `key cannot change: it is ${ownKey}` }]
}

function checkFieldKeys({ schema, displayField }: ContentTypeChangeBody): ValidationError[] {
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
