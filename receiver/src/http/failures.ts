import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorDetail, Failure, GenericResult, ValidationError } from '../schemas/envelopes.js'

/** What ajv says of one failed rule; `verbose` adds the value. */
interface SchemaError {
  readonly instancePath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
  readonly data?: unknown
}

/** Answer 401 or 404; the API does not show their bodies. */
export function refuse(reply: FastifyReply, status: 401 | 404, message: string): FastifyReply {
  const body: Failure = { success: false, errors: [{ correlationId: reply.request.id, message }] }
  return reply.code(status).send(body)
}

/** Answers for everything that a route throws: 4xx with what was wrong, else 500 with a correlation id. */
export function answerFailure(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const status = error.statusCode ?? 500
  if (status < 500) {
    const schemaErrors = error.validation as readonly SchemaError[] | undefined
    const body: GenericResult = {
      result: false,
      validationErrors: schemaErrors === undefined ? [unreadable(error)] : validationErrors(schemaErrors),
      errors: [],
    }
    return reply.code(status).send(body)
  }
  const production = process.env.NODE_ENV === 'production'
  const detail: ErrorDetail = {
    correlationId: request.id,
    message: production ? 'unexpected server error' : error.message,
    ...(production || error.stack === undefined ? {} : { stack: error.stack }),
  }
  process.stderr.write(`sluice-receiver: ${request.method} ${request.url} failed (${request.id}): ${error.message}\n`)
  return reply.code(500).send({ success: false, result: false, validationErrors: [], errors: [detail] })
}

/** One entry for each bad field, the first rule that it broke. */
function validationErrors(errors: readonly SchemaError[]): ValidationError[] {
  const byName = new Map<string, ValidationError>()
  for (const error of errors) {
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
}: SchemaError): ValidationError {
  const path = instancePath.slice(1).replaceAll('/', '.')
  const within = (field: unknown) => (path === '' ? String(field) : `${path}.${field}`)
  if (keyword === 'required') {
    const name = within(params.missingProperty)
    return { name, attemptedValue: null, message: `${name} is required` }
  }
  if (keyword === 'additionalProperties') {
    const name = within(params.additionalProperty)
    const attemptedValue = (data as Record<string, unknown>)[String(params.additionalProperty)]
    return { name, attemptedValue, message: `${name} is not a field of this record` }
  }
  const name = path === '' ? 'body' : path
  return { name, attemptedValue: data ?? null, message: `${name} ${message}` }
}

function unreadable(error: FastifyError): ValidationError {
  return { name: 'body', attemptedValue: null, message: error.message }
}
