import type { FieldDefinition } from 'sluice/content'
import { validFields } from './service.js'

/** Fields that break one rule of a schema each, with the names of the fields that must be complained of. */
export function brokenFields(
  schema: readonly FieldDefinition[],
): [sentence: string, fields: object, names: string[]][] {
  const valid = validFields(schema)
  const broken = (sentence: string, field: FieldDefinition | undefined, value: unknown) =>
    field === undefined ? [] : [[sentence, { ...valid, [field.key]: value }, [field.key]] as const]
  const required = schema.find((field) => field.required)
  const limited = schema.find(({ maxLength }) => maxLength !== undefined)
  const all = [
    ...broken('required: whether the field must be supplied', required, undefined),
    ...broken('maxLength: maximum length constraint', limited, 'x'.repeat((limited?.maxLength ?? 0) + 1)),
    ...broken(
      'values are validated against each field’s type, text',
      schema.find(({ type }) => type === 'text'),
      7,
    ),
    ...broken(
      'values are validated against each field’s type, richtext',
      schema.find(({ type }) => type === 'richtext'),
      7,
    ),
    ['keys must match field keys in the type schema', { ...valid, 'no-such-field': 'x' }, ['no-such-field']] as const,
  ].map(([sentence, fields, names]): [string, object, string[]] => [sentence, fields, [...names]])
  const together = Object.fromEntries(schema.map(({ key }) => [key, 7]))
  const names = [...Object.keys(together), 'no-such-field'].sort()
  return [...all, ['all failures, each in an element', { ...together, 'no-such-field': 'x' }, names]]
}
