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

/** An answer that is not JSON. */
export function textAnswer(type: 'text/event-stream' | 'text/plain', description: string) {
  return { description, content: { [type]: { schema: Type.String() } } }
}

/** Bodies by status: in JSON where no other type is named. */
type Answers = Readonly<Record<number, TSchema | ReturnType<typeof textAnswer>>>

/** Describes a content operation of the API, beside the schemas of what it takes. */
export function ofApi(summary: string, answers: Answers) {
  return { summary, tags: ['API'], response: apiAnswers(answers) }
}

/** Describes one of the receiver's own routes, beside the schemas of what it takes. */
export function ours(summary: string, answers: Answers) {
  return { summary, tags: ['Ours'], response: apiAnswers(answers) }
}

/** Answers that refuse a request for a reason outside its body. */
export function refusals(...statuses: readonly number[]): Answers {
  return Object.fromEntries(statuses.map((status) => [status, failureSchema]))
}

function apiAnswers(answers: Answers) {
  return described({ ...answers, 400: invalidSchema, ...refusals(401, 403, 500) })
}

/** Statuses and bodies of an operation that takes records. */
export function genericAnswers() {
  const judged = {
    201: genericResultSchema,
    400: genericResultSchema,
    413: genericResultSchema,
    415: genericResultSchema,
  }
  const failed = { 500: genericFailureSchema, 507: genericFailureSchema }
  return described({ ...judged, ...refusals(401, 403, 404, 429), ...failed })
}

function described(answers: Answers) {
  return Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => {
      const description = descriptions[Number(status)] ?? ''
      return [status, 'content' in schema ? schema : { description, content: { 'application/json': { schema } } }]
    }),
  )
}
