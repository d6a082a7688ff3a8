import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Failure, GenericResult, Invalid, ValidationError } from '../schemas/envelopes.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Shape of the answers to bad requests and server errors. @default 'api' */
    readonly envelope?: 'api' | 'generic'
  }
}

/** Refuses a request for a reason outside its body. The API's document does not show the bodies of these answers. */
export function refuse(
  reply: FastifyReply,
  { status, message }: { status: 401 | 403 | 404 | 409 | 412 | 429 | 503; message: string },
): FastifyReply {
  const body: Failure = { success: false, errors: [{ correlationId: reply.request.id, message }] }
  return reply.code(status).send(body)
}

/** Body of 400 and of the other answers that blame the request, in the envelope of the operation. */
export function invalid(request: FastifyRequest, failures: readonly ValidationError[]): GenericResult | Invalid {
  const validationErrors = shownFailures(failures)
  if (request.routeOptions.config.envelope === 'generic') return { result: false, validationErrors, errors: [] }
  return { isValid: false, validationErrors }
}

/** More failures than a content type of 500 fields can have. A body of 1 MiB can have a hundred times as many. */
const maxShown = 1000
/** `JSON.stringify` overflows the stack on values that are nested too deep. */
const maxLevels = 100

/** The failures that an answer can hold: limited in number, and without values that cannot be written as JSON. */
function shownFailures(failures: readonly ValidationError[]): ValidationError[] {
  const shown = failures
    .slice(0, maxShown)
    .map((failure) => (isDeeper(failure.attemptedValue, maxLevels) ? { ...failure, attemptedValue: null } : failure))
  const left = failures.length - shown.length
  if (left > 0) shown.push({ name: 'body', attemptedValue: null, message: `body has ${left} further failures` })
  return shown
}

/** Goes level by level, without recursion: the sender chooses the depth. */
function isDeeper(value: unknown, levels: number): boolean {
  let level = [value].filter(isNest)
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === levels) return true
    level = level.flatMap((nest) => Object.values(nest).filter(isNest))
  }
  return false
}

function isNest(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
