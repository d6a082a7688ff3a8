import { type Asked, unreadable } from '../content/read-answer.js'
import { objectOf } from '../http/answer-body.js'

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
  const { total, totals, lastSeen, list = [] } = answer
  const areComplete = typeof total === 'number' && objectOf(totals) !== undefined && objectOf(lastSeen) !== undefined
  if (areComplete && Array.isArray(list)) return answer as object as RecordCounts
  throw unreadable({ status: 200, correlationId: undefined }, { asked, expected: 'counts' })
}
