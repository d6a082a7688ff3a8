import { type Asked, unreadable } from '../../../../src/content/read-answer.js'
import { objectOf } from '../../../../src/http/answer-body.js'
import type { RecordCounts } from './record-counts.js'

/**
 * The counts in an answer. Their type has a file of its own, which the package ships without the library's source.
 *
 * @throws {ApiError} where the answer has none
 */
export function countsIn(answer: Readonly<Record<string, unknown>>, asked: Asked): RecordCounts {
  const { total, totals, lastSeen, list = [], others = 0, countedSince = '', hint = '' } = answer
  const areComplete = typeof total === 'number' && hasOnly(totals, 'number') && hasOnly(lastSeen, 'string')
  const areRead =
    areComplete && typeof others === 'number' && typeof countedSince === 'string' && typeof hint === 'string'
  if (areRead && Array.isArray(list) && list.every(isStep)) return answer as object as RecordCounts
  throw unreadable({ status: 200, correlationId: undefined }, { asked, expected: 'counts' })
}

function isStep(value: unknown): boolean {
  const step = objectOf(value)
  return typeof step?.time === 'string' && hasOnly(step.counts, 'number')
}

/** True for an object whose values are all of one type. */
function hasOnly(value: unknown, type: 'number' | 'string'): boolean {
  const fields = objectOf(value)
  return fields !== undefined && Object.values(fields).every((each) => typeof each === type)
}
