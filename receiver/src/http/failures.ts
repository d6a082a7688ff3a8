import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorDetail } from '../schemas/envelopes.js'
import { invalid } from './envelope.js'
import { type SchemaError, validationErrors } from './validation-errors.js'

/** Answers for everything that a route throws: 4xx with what was wrong, else 500 with a correlation id. */
export function answerFailure(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const status = error.statusCode ?? 500
  if (status < 500) {
    const schemaErrors = error.validation as readonly SchemaError[] | undefined
    const body = { name: 'body', attemptedValue: null, message: error.message }
    return reply
      .code(status)
      .send(invalid(request, schemaErrors === undefined ? [body] : validationErrors(schemaErrors)))
  }
  const production = process.env.NODE_ENV === 'production'
  const detail: ErrorDetail = {
    correlationId: request.id,
    message: production ? 'unexpected server error' : error.message,
    ...(production || error.stack === undefined ? {} : { stack: error.stack }),
  }
  process.stderr.write(`sluice-receiver: ${request.method} ${request.url} failed (${request.id}): ${error.message}\n`)
  // Of a generic operation the document says both: `success` false, and details in `errors` beside `result`.
  const generic = request.routeOptions.config.envelope === 'generic' ? { result: false, validationErrors: [] } : {}
  return reply.code(500).send({ success: false, ...generic, errors: [detail] })
}
