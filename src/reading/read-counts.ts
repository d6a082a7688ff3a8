import { type Asked, unreadable } from '../content/read-answer.js'
import { objectOf } from '../http/answer-body.js'
import type { RecordCounts } from './record-counts.js'

/**
 * The counts in an answer.
 *
 * @throws {ApiError} where the answer has none
 */
export function countsIn(answer: Readonly<Record<string, unknown>>, asked: Asked): RecordCounts {
  const { total, totals, lastSeen, list = [] } = answer
  const areComplete = typeof total === 'number' && objectOf(totals) !== undefined && objectOf(lastSeen) !== undefined
  if (areComplete && Array.isArray(list)) return answer as object as RecordCounts
  throw unreadable({ status: 200, correlationId: undefined }, { asked, expected: 'counts' })
}
