import { STATUS_CODES } from 'node:http'
import { epochMs } from '../world.js'
import type { Behaviour, Form, RetryAfter, Trouble } from './behaviour.js'

/** An answer before it is written. */
export interface Answer {
  readonly status: number
  readonly form: Form
  readonly body: string
  readonly contentType?: string
  readonly echoedKey: string | undefined
  readonly retryAfter?: string | undefined
  /** It is written two times. @default false */
  readonly twice?: boolean
}

/** The end of a request: an answer, bytes that are none, a reset of its connection, or nothing at all. */
export type Reply = Answer | Bytes | 'reset' | 'hang'

export interface Bytes {
  readonly bytes: string
  /** The end of the connection after them. @default it goes on */
  readonly end?: 'fin' | 'reset'
}

const acceptedBody = '{"result":true,"validationErrors":[],"errors":[]}'
/** Longer than the bound of every reader. */
const longBody = acceptedBody + ' '.repeat(1_000_000)
const page = '<!doctype html><title>Please log in</title>'

export function accepted({ form }: Behaviour, echoedKey: string | undefined): Answer {
  return form === '204'
    ? { status: 204, form, body: '', echoedKey }
    : { status: 201, form, body: acceptedBody, echoedKey }
}

/** The reply of a backend in trouble. */
export function troubled(
  trouble: Trouble,
  about: { readonly form: Form; readonly echoedKey: string | undefined; readonly now: number },
): Reply {
  const { echoedKey, now } = about
  const form = about.form === '204' ? 'length' : about.form
  switch (trouble.type) {
    case 'hang':
      return 'hang'
    case 'reset':
      return 'reset'
    case 'cut answer':
      return {
        bytes: cutOff(trouble.in, { status: 201, form, body: acceptedBody, echoedKey }),
        end: trouble.closesWith,
      }
    case 'long answer':
      return { status: 201, form, body: longBody, echoedKey }
    case 'garbage':
      return { bytes: '\u0000\u0001 this is not HTTP \r\n\r\n' }
    case 'html':
      return { status: 200, form, body: page, contentType: 'text/html', echoedKey: undefined }
    case 'page':
      return { status: trouble.status, form, body: page, contentType: 'text/html', echoedKey: undefined }
    case 'surplus answer':
      return { status: 201, form, body: acceptedBody, echoedKey, twice: true }
    case 'result false':
      return { status: 200, form, body: '{"result":false,"validationErrors":[],"errors":[]}', echoedKey }
    case 'status': {
      const { status, retryAfter } = trouble
      const asked = retryAfter && writtenRetryAfter(retryAfter, now)
      return { status, form, body: bodyOf(status), echoedKey, retryAfter: asked }
    }
  }
}

function cutOff(part: 'head' | 'body', answer: Answer): string {
  const text = written(answer, { closes: false, keepAlive: undefined })
  const head = text.length - answer.body.length
  return text.slice(0, part === 'head' ? head / 2 : head + answer.body.length / 2)
}

function bodyOf(status: number): string {
  if (status >= 500) return '{"success":false,"errors":[{"correlationId":"c","message":"it failed"}]}'
  if (status === 400)
    return '{"result":false,"validationErrors":[{"name":"message","attemptedValue":"","message":"is bad"}],"errors":[]}'
  return '{"success":false,"errors":[]}'
}

function writtenRetryAfter({ seconds, as }: RetryAfter, now: number): string {
  return as === 'seconds' ? `${seconds}` : new Date(epochMs + now + seconds * 1000).toUTCString()
}

/** Time of the world before which a request must not come again after this answer. A date has whole seconds. */
export function notBefore({ seconds, as }: RetryAfter, now: number): number {
  return as === 'seconds' ? now + seconds * 1000 : Math.floor((epochMs + now + seconds * 1000) / 1000) * 1000 - epochMs
}

/** Headers about the connection. */
export interface Keeping {
  readonly closes: boolean
  /** The value of `keep-alive`. */
  readonly keepAlive: string | undefined
}

/** The bytes of an answer, in latin1. */
export function written({ status, form, body, contentType, echoedKey, retryAfter }: Answer, keeping: Keeping): string {
  const old = form === '1.0' || form === '1.0 keep-alive'
  let text = `HTTP/1.${old ? 0 : 1} ${status} ${STATUS_CODES[status] ?? 'X'}\r\n`
  if (echoedKey !== undefined) text += `idempotency-key: ${echoedKey}\r\n`
  if (retryAfter !== undefined) text += `retry-after: ${retryAfter}\r\n`
  if (keeping.closes) text += 'connection: close\r\n'
  else if (form === '1.0 keep-alive') text += 'connection: keep-alive\r\n'
  if (keeping.keepAlive !== undefined) text += `keep-alive: ${keeping.keepAlive}\r\n`
  if (form === '204') return `${text}\r\n`
  text += `content-type: ${contentType ?? 'application/json'}\r\n`
  if (form !== 'chunked') return `${text}content-length: ${body.length}\r\n\r\n${body}`
  const half = body.length >> 1
  const chunk = (part: string) => (part === '' ? '' : `${part.length.toString(16)}\r\n${part}\r\n`)
  return `${text}transfer-encoding: chunked\r\n\r\n${chunk(body.slice(0, half))}${chunk(body.slice(half))}0\r\n\r\n`
}
