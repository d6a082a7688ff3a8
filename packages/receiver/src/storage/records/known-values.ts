import type { RecordQuery, UnknownValue } from '../record-storage.js'
import { type FieldCondition, fieldConditions } from './field-conditions.js'
import { maxNameLength } from './named-fields.js'

/** At most this number of known values is shown. */
const maxShown = 10

/** A value of a filter that no record of the lane may have. */
export interface Candidate {
  readonly unknown: UnknownValue
  /** The filter that finds a record with the value. */
  readonly filter: Partial<RecordQuery>
  /** The tables say that no record has it. Otherwise somebody must look. */
  readonly isCertain: boolean
}

/** The values of a field that the tables know, the most frequent first. */
export interface KnownNames {
  /** JSON. */
  readonly names: readonly string[]
  /** There are no others. */
  readonly isComplete: boolean
}

/** The conditions whose values may be unknown. */
export function namedConditions(query: RecordQuery): FieldCondition[] {
  return fieldConditions({ ...query, minLevel: undefined, notLevels: undefined, levelRanges: undefined })
}

/** The values of a condition that the tables do not know. */
export function candidates({ field, values }: FieldCondition, { names, isComplete }: KnownNames): Candidate[] {
  const known = new Set(names)
  const shown = field === 'eventId' || !isComplete ? [] : names.slice(0, maxShown)
  return values
    .filter((json) => !known.has(json))
    .map((json) => {
      const value = JSON.parse(json) as string | number
      return {
        unknown: { field, value, known: shown.map((name) => JSON.parse(name) as string) },
        filter: field === 'level' ? { levels: [String(value)] } : { [field]: value },
        isCertain: isComplete && json.length <= maxNameLength,
      }
    })
}
