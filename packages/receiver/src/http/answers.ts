import { type TSchema, Type } from '@sinclair/typebox'
import { failureSchema, genericFailureSchema, genericResultSchema, invalidSchema } from '../schemas/envelopes.js'

const descriptions: Readonly<Record<number, string>> = {
  200: 'Done',
  201: 'Made, and on disk',
  400: 'The request is not valid; the body names each failure',
  401: 'Credentials are missing or not valid',
  403: 'The API key lacks the scope of the operation, or does not hold for the project',
  404: 'There is no such project, bucket, content type, entry or key',
  408: 'The request did not arrive in time',
  409: 'It exists already',
  412: 'The plan of the project does not allow it, or payment is required',
  413: 'The body has more than 1 MiB',
  415: 'The body is not application/json',
  429: 'The key sends more records than it may; Retry-After says when to try again',
  500: 'Unexpected error of the server',
  503: 'The store cannot be used',
  507: 'The disk is full; Retry-After says when to try again',
}

/** Further answers of an operation that takes a body. */
export const bodyAnswers = { 413: invalidSchema, 415: invalidSchema, 507: failureSchema } as const

/** The answer of a route that streams events. */
export const eventStream = {
  description: 'Server-sent events, until either side ends the stream',
  content: { 'text/event-stream': { schema: Type.String() } },
}

/** Statuses and bodies of a content operation or of one of the receiver's own routes, for the OpenAPI description. */
export function apiAnswers(good: Readonly<Record<number, TSchema>>, refusals: readonly number[] = []) {
  const bad = { 400: invalidSchema, 401: failureSchema, 403: failureSchema, 500: failureSchema }
  return described({ ...good, ...bad, ...Object.fromEntries(refusals.map((status) => [status, failureSchema])) })
}

/** Statuses and bodies of an operation that takes records. */
export function genericAnswers() {
  const bad = {
    400: genericResultSchema,
    401: failureSchema,
    403: failureSchema,
    404: failureSchema,
    413: genericResultSchema,
    415: genericResultSchema,
    429: failureSchema,
  }
  return described({ 201: genericResultSchema, ...bad, 500: genericFailureSchema, 507: genericFailureSchema })
}

function described(answers: Readonly<Record<number, TSchema>>) {
  return Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => [
      status,
      { description: descriptions[Number(status)] ?? '', content: { 'application/json': { schema } } },
    ]),
  )
}
