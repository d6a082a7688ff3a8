import type { FastifyRequest } from 'fastify'
import type { ValidationError } from '../schemas/envelopes.js'

/** An error of ajv about one rule. `verbose` adds the value and the schema. */
export interface SchemaError {
  readonly instancePath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
  readonly data?: unknown
  readonly parentSchema?: {
    readonly title?: string
    readonly description?: string
    readonly properties?: Readonly<Record<string, unknown>>
    readonly anyOf?: readonly { readonly const?: unknown; readonly description?: string }[]
  }
}

/** One element per bad field: the first rule that it broke. */
export function validationErrors(errors: readonly SchemaError[]): ValidationError[] {
  const byName = new Map<string, ValidationError>()
  // ajv puts `anyOf` last, but its message says more than those of its alternatives.
  for (const error of [...errors.filter(({ keyword }) => keyword === 'anyOf'), ...errors]) {
    const entry = validationError(error)
    if (!byName.has(entry.name)) byName.set(entry.name, entry)
  }
  return [...byName.values()]
}

function validationError({
  instancePath,
  keyword,
  params,
  message = 'is invalid',
  data,
  parentSchema = {},
}: SchemaError): ValidationError {
  const path = instancePath.slice(1).split('/').map(unescapePointer).join('.')
  const within = (field: unknown) => (path === '' ? String(field) : `${path}.${field}`)
  const name = path === '' ? 'body' : path
  switch (keyword) {
    case 'required': {
      const missing = within(params.missingProperty)
      return { name: missing, attemptedValue: null, message: `${missing} is required` }
    }
    case 'additionalProperties': {
      const unknown = within(params.additionalProperty)
      const attemptedValue = (data as Record<string, unknown>)[String(params.additionalProperty)]
      return { name: unknown, attemptedValue, message: `${unknown} ${whyUnknown(parentSchema)}` }
    }
    case 'anyOf': {
      const choices = parentSchema.anyOf
        ?.map((choice) => (choice.const === undefined ? choice.description : JSON.stringify(choice.const)))
        .join(' or ')
      return { name, attemptedValue: data ?? null, message: `${name} must be ${choices}` }
    }
    case 'const':
      return { name, attemptedValue: data ?? null, message: `${name} must be ${JSON.stringify(params.allowedValue)}` }
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
    case 'pattern':
    case 'format':
      return { name, attemptedValue: data ?? null, message: `${name} must be ${parentSchema.description ?? message}` }
    default:
      return { name, attemptedValue: data ?? null, message: `${name} ${message}` }
  }
}

function whyUnknown({
  title = 'request',
  description,
  properties = {},
}: NonNullable<SchemaError['parentSchema']>): string {
  const listed = `is not a field of a ${title}, whose fields are ${Object.keys(properties).join(', ')}`
  return description === undefined ? listed : `${listed}; ${description}`
}

function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** The failures of a request whose route has `attachValidation`. */
export function validationErrorsOf({ validationError }: FastifyRequest): ValidationError[] {
  return validationErrors((validationError?.validation ?? []) as readonly SchemaError[])
}
