import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Failure, GenericResult, Invalid, ValidationError } from '../schemas/envelopes.js'
import { shownFailures } from './shown-failures.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of the answers to bad requests and server errors. @default 'api' */
    readonly envelope?: 'api' | 'generic'
  }
}

/** What refuses a request for a reason that lies outside its body. The API does not show the bodies of these answers. */
export function refuse(
  reply: FastifyReply,
  { status, message }: { status: 401 | 404 | 409 | 412 | 503; message: string },
): FastifyReply {
  const body: Failure = { success: false, errors: [{ correlationId: reply.request.id, message }] }
  return reply.code(status).send(body)
}

/** The body of 400, and of the other answers that blame the request, in the envelope of its operation. */
export function invalid(request: FastifyRequest, failures: readonly ValidationError[]): GenericResult | Invalid {
  const validationErrors = shownFailures(failures)
  if (request.routeOptions.config.envelope === 'generic') return { result: false, validationErrors, errors: [] }
  return { isValid: false, validationErrors }
}
