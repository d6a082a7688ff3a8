import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { QueryError } from '../query/query-error.js'
import type { ErrorDetail, ValidationError } from '../schemas/envelopes.js'
import { say } from '../stderr.js'
import { isOutOfSpace, roomAwaitedS } from '../storage/out-of-space.js'
import { StoreUnavailableError, storeAwaitedS } from '../storage/store-unavailable.js'
import { invalid } from './envelope.js'
import { shownPath } from './shown-path.js'
import { type SchemaError, validationErrors } from './validation-errors.js'

/**
 * Answers an error that a route has thrown: 4xx with its failures, 507 if the disk is full, 503 if the store cannot be reached, else 500 with a
 * correlation id.
 */
export function answerFailure(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const status = error.statusCode ?? 500
  if (status < 500) {
    // fastify would close the connection. That breaks a client that is still sending, and requests pipelined behind this one would be
    // carried out without an answer.
    reply.removeHeader('connection')
    return reply.code(status).send(invalid(request, complaints(error, request)))
  }
  // For a generic operation the API's document says both: `success` is false, and `errors` stands beside `result`.
  const generic = request.routeOptions.config.envelope === 'generic' ? { result: false, validationErrors: [] } : {}
  if (isOutOfSpace(error)) {
    sayOnce('the disk is full: writes are answered with 507 until there is room')
    return unavailable(507, {
      retryAfterS: roomAwaitedS,
      message: `the disk of the receiver is full: ${error.message}`,
    })
  }
  if ((error as Error) instanceof StoreUnavailableError) {
    sayOnce(`some requests are answered with 503: ${error.message}`)
    return unavailable(503, { retryAfterS: storeAwaitedS, message: error.message })
  }
  const production = process.env.NODE_ENV === 'production'
  const detail: ErrorDetail = {
    correlationId: request.id,
    message: production ? 'unexpected server error' : error.message,
    ...(production || error.stack === undefined ? {} : { stack: error.stack }),
  }
  say(`${request.method} ${shownPath(request.url)} failed (${request.id}): ${error.message}`)
  return reply.code(500).send({ success: false, ...generic, errors: [detail] })

  function unavailable(
    code: number,
    { retryAfterS, message }: { readonly retryAfterS: number; readonly message: string },
  ) {
    reply.code(code).header('retry-after', retryAfterS)
    return reply.send({ success: false, ...generic, errors: [{ correlationId: request.id, message }] })
  }
}

/** A line for each refused record would fill a log, for a full disk perhaps on the same disk. */
const repeatedMs = 10_000
let saidAt = Number.NEGATIVE_INFINITY

function sayOnce(message: string): void {
  if (performance.now() - saidAt < repeatedMs) return
  saidAt = performance.now()
  say(message)
}

/** The failures of a request that is to blame itself. */
export function complaints(error: FastifyError, request: FastifyRequest): ValidationError[] {
  if (error.validation !== undefined) return validationErrors(error.validation as readonly SchemaError[])
  if ((error as Error) instanceof QueryError) {
    const { q = null } = request.query as { readonly q?: string }
    return [{ name: 'q', attemptedValue: q, message: error.message }]
  }
  const ofBody = (message: string) => [{ name: 'body', attemptedValue: null, message: `body ${message}` }]
  switch (error.code) {
    case 'FST_ERR_BAD_URL':
      return [
        { name: 'path', attemptedValue: request.url, message: 'path has a % that does not stand for a byte of UTF-8' },
      ]
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return ofBody(wrongType(request))
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return ofBody(`must not have more than ${request.routeOptions.bodyLimit} bytes`)
    default:
      return ofBody(error.message)
  }
}

function wrongType({ headers: { 'content-type': type }, routeOptions }: FastifyRequest): string {
  const types = routeOptions.schema?.consumes ?? ['application/json']
  return `must be ${types.join(' or ')}, ${type === undefined ? 'and has no content type' : `not ${type}`}`
}
