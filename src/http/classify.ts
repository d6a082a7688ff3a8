import type { Outcome } from '../delivery/sender.js'
import type { ValidationError } from '../records/wire.js'
import { retryAfterMs } from './retry-after.js'

/** An answer of the service, its body read as far as it was readable. */
export interface Answer {
  readonly status: number
  readonly retryAfter?: string | undefined
  readonly location?: string | undefined
  /** The header `x-correlation-id`, which the receiver sends. */
  readonly correlationId?: string | undefined
  readonly body: string
}

/** What an answer means for the record that was sent: the table of outcomes. */
export function classify({ status, retryAfter, location, body }: Answer, wallClockNow: number): Outcome {
  if (status >= 200 && status < 300) return judged(status, body)
  if (status >= 300 && status < 400) {
    const target = location === undefined ? '' : ` to ${location}`
    return {
      type: 'pause',
      status,
      scope: 'lane',
      reason: `the service redirects${target} (${status}); set that as the URL`,
    }
  }
  if (recordFaults.has(status)) return { type: 'rejected', status, ...complaint(status, body) }
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
  return {
    type: 'pause',
    status,
    ...(pauses[status] ?? { scope: 'lane', reason: `the service answered ${status}; check the URL` }),
  }
}

/** Statuses that speak of one record and not of the sender's set-up. */
const recordFaults: ReadonlySet<number> = new Set([400, 409, 413, 415, 422])

const pauses: Readonly<Record<number, { readonly scope: 'key' | 'lane'; readonly reason: string }>> = {
  401: { scope: 'key', reason: 'the key is missing or wrong (401); check SLUICE_API_KEY or SLUICE_API_KEY_FILE' },
  402: { scope: 'lane', reason: 'the service asks for payment (402); check the plan' },
  403: { scope: 'key', reason: 'the key may not write here (403); check its permissions' },
  404: { scope: 'lane', reason: 'no such bucket, or none at this URL (404); check SLUICE_BUCKET and SLUICE_URL' },
  412: { scope: 'lane', reason: "the project's plan or payment does not allow it (412); check the plan" },
}

function judged(status: number, body: string): Outcome {
  const answer = readObject(body)
  const refused = answer !== undefined && (answer.result === false || isFilled(answer.errors))
  return refused ? { type: 'rejected', status, ...complaint(status, body) } : { type: 'delivered' }
}

function complaint(status: number, body: string): { reason: string; validationErrors: readonly ValidationError[] } {
  const answer = readObject(body)
  const validationErrors = Array.isArray(answer?.validationErrors)
    ? answer.validationErrors.filter(isValidationError)
    : []
  const errors: unknown[] = Array.isArray(answer?.errors) ? answer.errors : []
  const words = [
    ...validationErrors.map(({ name, message }) => `${shown(name)}: ${shown(message)}`),
    ...errors.map((error) => shown((error as { message?: unknown } | null)?.message ?? error)),
  ]
  return {
    reason: `the service refused the record (${status})${words.length === 0 ? '' : `: ${words.join('; ')}`}`,
    validationErrors,
  }
}

/** A service may put anything where a text is expected; an object from JSON may not even have a `toString` that works. */
function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function readObject(body: string): Record<string, unknown> | undefined {
  if (!body.trimStart().startsWith('{')) return undefined
  try {
    return JSON.parse(body) as Record<string, unknown>
  } catch {
    return undefined
  }
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0
}

function isValidationError(value: unknown): value is ValidationError {
  return typeof value === 'object' && value !== null && 'name' in value && 'message' in value
}
