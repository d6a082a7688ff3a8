import { type Asked, unreadable } from '../../../../src/content/read-answer.js'
import { objectOf } from '../../../../src/http/answer-body.js'
import type { LogErrors } from './log-errors.js'

/**
 * The kinds of error in an answer. Their type has a file of its own, which the package ships without the library's source.
 *
 * @throws {ApiError} where the answer has none
 */
export function errorsIn(answer: Readonly<Record<string, unknown>>, asked: Asked): LogErrors {
  const { total, list, from, stepMs, hint = '' } = answer
  const isRead =
    typeof total === 'number' && typeof from === 'string' && typeof stepMs === 'number' && typeof hint === 'string'
  if (isRead && Array.isArray(list) && list.every(isError)) return answer as object as LogErrors
  throw unreadable({ status: 200, correlationId: undefined }, { asked, expected: 'errors' })
}

function isError(value: unknown): boolean {
  const { id, message, count, versions, steps } = objectOf(value) ?? {}
  const isNamed = typeof id === 'string' && typeof message === 'string' && typeof count === 'number'
  return isNamed && Array.isArray(versions) && Array.isArray(steps)
}
