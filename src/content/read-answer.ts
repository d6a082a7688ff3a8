import type { ApiErrorCode } from '../errors/sluice-error.js'
import {
  boundedText,
  foreignAnswer,
  joinedComplaints,
  objectOf,
  readBody,
  readComplaints,
  readObject,
  readValidationErrors,
  saysNo,
} from '../http/answer-body.js'
import type { Exchange } from '../http/answer-collector.js'
import { type Answer, retryAfterMs } from '../http/classify.js'
import { ApiError } from './api-error.js'
import { type Scheme, schemeText } from './credentials.js'

/** The facts about a request that its errors need. */
export interface Asked {
  /** The operation, for messages. */
  readonly what: string
  readonly scheme: Scheme
  /** Redacts the secrets in a text of the service. */
  readonly redact: (text: string) => string
}

/**
 * The body of a success.
 *
 * @throws {ApiError} for everything else
 */
export function readAnswer(exchange: Exchange, asked: Asked): Readonly<Record<string, unknown>> {
  if (exchange.type === 'broken') {
    const { sent, reason, cause } = exchange
    const code = sent ? 'no-answer' : 'unsent'
    const words = sent ? 'no answer came' : 'the request could not be sent'
    throw new ApiError({ code, message: `${asked.what}: ${words}: ${asked.redact(reason)}`, cause })
  }
  const { answer } = exchange
  const { status } = answer
  if (status < 200 || status >= 300) throw failure(answer, { body: readObject(answer.body), asked })
  const read = readBody(answer.body)
  if (read.type === 'foreign') {
    const message = `${asked.what}: ${foreignAnswer(status)}; check the URL, and for a login page or proxy`
    throw new ApiError({ code: 'not-the-service', status, message })
  }
  const body = read.type === 'json' ? objectOf(read.value) : undefined
  if (body === undefined) throw unreadable(answer, { asked, expected: 'an object of JSON' })
  if (saysNo(body)) throw failure(answer, { body, asked })
  return body
}

/**
 * The text in `result`.
 *
 * @throws {ApiError} if there is none
 */
export function readResult(exchange: Exchange, asked: Asked): string {
  const { result } = readAnswer(exchange, asked)
  if (typeof result === 'string' && result !== '') return result
  throw unreadable((exchange as Exchange & { type: 'answered' }).answer, { asked, expected: 'a text as result' })
}

/** The error for a success whose body is not that of the API. */
export function unreadable(
  { status, correlationId }: Pick<Answer, 'status' | 'correlationId'>,
  { asked, expected }: { readonly asked: Asked; readonly expected: string },
): ApiError {
  const message = `${asked.what}: the answer (${status}) cannot be read: expected ${expected}`
  return new ApiError({ code: 'unreadable-answer', status, message, correlationId })
}

function failure(
  { status, location, retryAfter, correlationId }: Answer,
  { body = {}, asked }: { body?: Readonly<Record<string, unknown>> | undefined; asked: Asked },
): ApiError {
  const validationErrors = readValidationErrors(body.validationErrors).map((error) => ({
    ...error,
    message: asked.redact(error.message),
  }))
  const details = list(body.errors).filter(isDetail)
  const said = joinedComplaints(readComplaints(body))
  const told = details.find((detail) => typeof detail.correlationId === 'string')?.correlationId
  const message = `${asked.what}: ${explain(status, { location, scheme: asked.scheme })}${said === '' ? '' : `: ${said}`}`
  return new ApiError({
    code: status < 300 && validationErrors.length > 0 ? 'validation-failed' : codeOf(status),
    status,
    message: asked.redact(message),
    validationErrors,
    correlationId: typeof told === 'string' ? boundedText(told, maxIdLength) : correlationId,
    retryAfterMs: retryAfterMs(retryAfter, Date.now()),
  })
}

/** Longest correlation id, in characters. */
const maxIdLength = 200

const codes: Readonly<Record<number, ApiErrorCode>> = {
  400: 'validation-failed',
  401: 'unauthorized',
  402: 'plan-required',
  403: 'unauthorized',
  404: 'not-found',
  412: 'plan-required',
  422: 'validation-failed',
  429: 'too-many-requests',
}

function codeOf(status: number): ApiErrorCode {
  if (status >= 300 && status < 400) return 'redirected'
  // A success with errors in its body counts as a failure of the service.
  return codes[status] ?? (status >= 400 && status < 500 ? 'refused' : 'server-error')
}

function explain(status: number, { location, scheme }: { location: string | undefined; scheme: Scheme }): string {
  switch (codeOf(status)) {
    case 'validation-failed':
      return `the service finds it invalid (${status})`
    case 'unauthorized':
      return status === 401
        ? `the ${schemeText(scheme)} is missing or wrong (401)`
        : `the ${schemeText(scheme)} does not allow it (403)`
    case 'not-found':
      return 'not found (404)'
    case 'plan-required':
      return `the project’s plan or payment does not allow it (${status})`
    case 'redirected':
      return `the service redirects${location === undefined ? '' : ` to ${location}`} (${status}), which is not followed; set that as the URL`
    case 'too-many-requests':
      return 'the service asks for fewer requests (429)'
    case 'server-error':
      return `the service failed (${status})`
    default:
      return `the service refused it (${status})`
  }
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function isDetail(value: unknown): value is { correlationId?: unknown; message?: unknown } {
  return typeof value === 'object' && value !== null
}
