import { type Asked, unreadable } from '../../../../src/content/read-answer.js'
import { objectOf } from '../../../../src/http/answer-body.js'

/** Records counted by level (logs) or event (values), and by their own time. */
export interface RecordCounts {
  /** The field that is counted: `level` or `event`. */
  readonly by: string
  /** Number of records that match. */
  readonly total: number
  /** Number of records by value, of the 1,000 most frequent values. */
  readonly totals: Readonly<Record<string, number>>
  /** Time of the last record by value, ISO 8601 UTC. */
  readonly lastSeen: Readonly<Record<string, string>>
  /** Length of a step in milliseconds; only with `step`. */
  readonly stepMs?: number
  /** Steps that have records, oldest first; only with `step`. */
  readonly list?: readonly CountedStep[]
  /** Records of the less frequent values, where there are more than 1,000. */
  readonly others?: number
  /** Where counting was cut: records before this time are not in the counts. ISO 8601 UTC. */
  readonly countedSince?: string
}

/** The counts of one step. */
export interface CountedStep {
  /** Begin of the step, ISO 8601 UTC. */
  readonly time: string
  /** Number of records by value. */
  readonly counts: Readonly<Record<string, number>>
}

/**
 * The counts in an answer.
 *
 * @throws {ApiError} where the answer has none
 */
export function countsIn(answer: Readonly<Record<string, unknown>>, asked: Asked): RecordCounts {
  const { total, totals, lastSeen, list = [], others = 0, countedSince = '' } = answer
  const areComplete = typeof total === 'number' && hasOnly(totals, 'number') && hasOnly(lastSeen, 'string')
  const areRead = areComplete && typeof others === 'number' && typeof countedSince === 'string'
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
