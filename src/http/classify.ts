import type { Outcome } from '../delivery/sender.js'
import {
  boundedText,
  foreignAnswer,
  isInWordsOfApi,
  isPage,
  joinedComplaints,
  objectOf,
  readBody,
  readComplaints,
  readObject,
  readValidationErrors,
  saysNo,
  wordsOfGateway,
} from './answer-body.js'

/** An answer of the service. */
export interface Answer {
  readonly status: number
  readonly retryAfter?: string | undefined
  readonly location?: string | undefined
  /** The header `x-correlation-id`, which the receiver sends. */
  readonly correlationId?: string | undefined
  /** The part that came, where it broke off or is too long. */
  readonly body: string
}

const maxLocationLength = 500

/**
 * The meaning of an answer for its record: the table of outcomes. It never throws, whatever the answer contains, and keeps a bounded part
 * of it.
 */
export function classify({ status, retryAfter, location, body }: Answer, wallClockNow: number): Outcome {
  if (status >= 200 && status < 300) return judged(status, body)
  if (status >= 300 && status < 400) {
    const target = location === undefined ? '' : ` to ${boundedText(location, maxLocationLength)}`
    return {
      type: 'pause',
      status,
      scope: 'lane',
      reason: `the service redirects${target} (${status}); set that as the URL`,
    }
  }
  if (recordFaults.has(status)) {
    return isInWordsOfApi(body) ? rejection(status, readObject(body)) : refusalOfGateway(status, body)
  }
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    const wait = retryAfterMs(retryAfter, wallClockNow)
    return {
      type: 'retry',
      exchange: 'answered',
      status,
      reason: `the service answered ${status}`,
      backPressure: status === 429 || status === 503,
      ...(wait === undefined ? {} : { retryAfterMs: wait }),
    }
  }
  if ((status === 401 || status === 403) && isPage(body)) {
    const advice = 'check SLUICE_URL, and for a login page or proxy on the way, then the key'
    const reason = `a web page answers in place of the service (${status}); ${advice}`
    return { type: 'pause', status, scope: 'key', reason }
  }
  return {
    type: 'pause',
    status,
    ...(pauses[status] ?? { scope: 'lane', reason: `the service answered ${status}; check the URL` }),
  }
}

/** Statuses that concern one record, not the set-up, where the API says what is wrong with it. */
export const recordFaults: ReadonlySet<number> = new Set([400, 409, 413, 415, 422])

/** A gateway before the service refuses requests with these statuses, too: all of them, or one record. */
function refusalOfGateway(status: number, body: string): Outcome {
  const words = wordsOfGateway(body)
  const who = isPage(body) ? 'a web page answers in place of the service' : 'an answer is not in the words of the API'
  const advice = remedies.find(([sign]) => sign.test(`${status} ${words}`))![1]
  const said = words === '' ? '' : `: ${words}`
  return { type: 'pause', status, scope: 'lane', reason: `${who} (${status})${said}; ${advice}` }
}

/** By what a gateway says, the first that fits: what to do. */
const remedies: readonly (readonly [sign: RegExp, advice: string])[] = [
  [/\bhttp request\b.*\bhttps\b/i, 'SLUICE_URL has to begin with https:'],
  [/certificate/i, 'Sluice sends no client certificate, so set SLUICE_URL to an address that asks for none'],
  [
    /(header|cookie)s? .*\b(large|long)\b/i,
    'check the length of SLUICE_API_KEY, or raise the limit of the gateway for headers',
  ],
  [/^413/, 'raise the limit of the gateway for a body, or lower SLUICE_MAX_MESSAGE_BYTES'],
  [/^/, 'check SLUICE_URL, and for a gateway or proxy on the way'],
]

const pauses: Readonly<Record<number, { readonly scope: 'key' | 'lane'; readonly reason: string }>> = {
  401: { scope: 'key', reason: 'the key is missing or wrong (401); check SLUICE_API_KEY or SLUICE_API_KEY_FILE' },
  402: { scope: 'lane', reason: 'the service asks for payment (402); check the plan' },
  403: { scope: 'key', reason: 'the key may not write here (403); check its permissions' },
  404: { scope: 'lane', reason: 'no such bucket, or none at this URL (404); check SLUICE_BUCKET and SLUICE_URL' },
  412: { scope: 'lane', reason: "the project's plan or payment does not allow it (412); check the plan" },
}

function judged(status: number, body: string): Outcome {
  const read = readBody(body)
  if (read.type === 'foreign') {
    return {
      type: 'pause',
      status,
      scope: 'lane',
      reason: `${foreignAnswer(status)}; check the URL, and for a login page or proxy`,
    }
  }
  const answer = read.type === 'json' ? objectOf(read.value) : undefined
  return answer !== undefined && saysNo(answer) ? rejection(status, answer) : { type: 'delivered' }
}

function rejection(status: number, answer: Readonly<Record<string, unknown>> | undefined): Outcome {
  const validationErrors = readValidationErrors(answer?.validationErrors)
  const words = readComplaints(answer ?? {})
  const said = words.length === 0 ? '' : `: ${joinedComplaints(words)}`
  return { type: 'rejected', status, reason: `the service refused the record (${status})${said}`, validationErrors }
}

/** Longest wait that is returned: a hundred years. The caller decides how much of it to honour. */
const longestMs = 3_155_760_000_000

/**
 * Milliseconds to wait by the header `Retry-After`, which has seconds or a date (RFC 9110, 10.2.3). Undefined without the header, or where
 * it cannot be read.
 */
export function retryAfterMs(header: string | undefined, wallClockNow: number): number | undefined {
  if (header === undefined) return undefined
  const written = header.trim()
  const wait = /^\d+$/.test(written) ? Number(written) * 1000 : Date.parse(written) - wallClockNow
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(0, wait), longestMs)
}
