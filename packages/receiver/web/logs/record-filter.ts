import { meetsQuery } from '../../src/query/meets-query.js'
import { parseQuery } from '../../src/query/parse-query.js'
import type { Query } from '../../src/query/query.js'
import { QueryError } from '../../src/query/query-error.js'
import { contextName, quoted } from '../../src/query/written-query.js'
import { type LogRecord, timeOf } from '../api/records.js'
import { momentOf } from '../view/times.js'
import type { Condition, View } from '../view/view.js'

/** The part of a view that chooses records. */
export type Choice = Pick<View, 'text' | 'levels' | 'only' | 'not' | 'since' | 'until'>

/** Chooses records: the receiver does what its queries can, the page does the rest. */
export interface RecordFilter {
  /** The part that the receiver looks up. Its answer holds all records of the choice. */
  readonly query: URLSearchParams
  /** True if the receiver knows every condition: its answer holds no other record. */
  readonly isAsked: boolean
  /** The time range, in ms. */
  readonly since: number | undefined
  readonly until: number | undefined
  /** Why the search of the view cannot be understood. No record matches then, and nobody is asked. */
  readonly problem?: QueryError
  matches(record: LogRecord): boolean
  hasLevel(level: string): boolean
  /** True if all conditions hold, but for that of the level. */
  matchesButLevel(record: LogRecord): boolean
}

/** Fields of the context begin with this. */
export const contextPrefix = 'context.'
/** Other fields that queries know. */
const asked = new Set(['level', 'appName', 'env', 'machineName', 'appVersion', 'eventId'])

export function filterOf(choice: Choice, now: number): RecordFilter {
  try {
    return understood(choice, now)
  } catch (problem) {
    if (!(problem instanceof QueryError)) throw problem
    const matches = () => false
    return { ...understood({ ...choice, text: '' }, now), isAsked: false, problem, matches, matchesButLevel: matches }
  }
}

function understood(choice: Choice, now: number): RecordFilter {
  const since = momentOf(choice.since, now)
  const until = momentOf(choice.until, now)
  const { written, meaning, left } = searchOf(choice, now)
  const { levels } = choice
  const unwantedLevels = choice.not.filter(isListedLevel)
  const hasLevel = (level: string) => levels.length === 0 || levels.includes(level)
  const matchesButLevel = (record: LogRecord) =>
    (since === undefined || timeOf(record) >= since) &&
    (until === undefined || timeOf(record) < until) &&
    !unwantedLevels.some(({ value }) => value === record.level) &&
    (meaning === undefined || meetsQuery(record, meaning)) &&
    left.every((test) => test(record))

  const query = new URLSearchParams()
  if (canList(levels)) query.set('level', levels.join(','))
  if (unwantedLevels.length > 0) query.set('notLevel', unwantedLevels.map(({ value }) => value).join(','))
  if (written !== '') query.set('q', written)
  if (since !== undefined) query.set('since', new Date(since).toISOString())
  if (until !== undefined) query.set('until', new Date(until).toISOString())
  return {
    query,
    isAsked: left.length === 0 && (levels.length === 0 || canList(levels)),
    since,
    until,
    matches: (record) => hasLevel(record.level) && matchesButLevel(record),
    hasLevel,
    matchesButLevel,
  }
}

interface Search {
  /** The search of the view with its filters, in the language of queries. */
  readonly written: string
  readonly meaning: Query | undefined
  /** Filters that are left to the page. */
  readonly left: readonly ((record: LogRecord) => boolean)[]
}

/** @throws {QueryError} */
function searchOf({ text, only, not }: Choice, now: number): Search {
  let written = text.trim()
  let meaning = parseQuery(text, now)
  // The space keeps a parenthesis of the last word from being taken as a pair with the one behind it.
  let begin = /\bOR\b/.test(written) ? `(${written} )` : written
  const left: Search['left'][number][] = []
  const add = (condition: Condition, isWanted: boolean) => {
    const words = writtenCondition(condition)
    try {
      if (words === undefined) throw new QueryError('', { position: 0 })
      const longer = `${begin} ${isWanted ? '' : '-'}${words}`.trim()
      meaning = parseQuery(longer, now)
      begin = longer
      written = longer
    } catch {
      left.push((record) => holds(record, condition) === isWanted)
    }
  }
  for (const condition of only) add(condition, true)
  for (const condition of not) if (!isListedLevel(condition)) add(condition, false)
  return { written, meaning, left }
}

/** Undefined for a field that queries do not know. */
function writtenCondition({ field, value }: Condition): string | undefined {
  const test = quoted(value)
  if (!field.startsWith(contextPrefix)) return asked.has(field) ? `${field}:${test}` : undefined
  const path = field.slice(contextPrefix.length)
  const written = `${contextName(path)}:${test}`
  // Older addresses have the places of a list's members in the path; for queries they are values of the list.
  const ofList = path.replaceAll(/\.\d+(?=\.|$)/g, '')
  return ofList === path ? written : `(${written} OR ${contextName(ofList)}:${test})`
}

function holds(record: LogRecord, condition: Condition): boolean {
  const { field, value } = condition
  if (!field.startsWith(contextPrefix)) {
    const found = (record as unknown as Record<string, unknown>)[field]
    return found !== undefined && String(found) === value
  }
  try {
    return meetsQuery(record, parseQuery(writtenCondition(condition)!, 0)!)
  } catch {
    // Longer than any value that can be looked up.
    return false
  }
}

/** A list of the receiver has commas between its names. */
function canList(levels: readonly string[]): boolean {
  return levels.length > 0 && levels.every((level) => level !== '' && !level.includes(','))
}

/** The receiver has a list of levels to leave out, which are compared as they are written. */
function isListedLevel({ field, value }: Condition): boolean {
  return field === 'level' && canList([value])
}
