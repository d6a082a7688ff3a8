import { type LogRecord, timeOf } from '../api/records.js'
import { contextValue } from '../text/message-parts.js'
import { type Search, searchOf, textTest } from '../text/words.js'
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
  matches(record: LogRecord): boolean
  hasLevel(level: string): boolean
  /** True if all conditions hold, but for that of the level. */
  matchesButLevel(record: LogRecord): boolean
}

/** Fields of the context begin with this. */
export const contextPrefix = 'context.'
/** Fields that the queries of the receiver know. */
const asked = new Set(['appName', 'env', 'machineName', 'appVersion', 'eventId'])
/** The receiver takes a longer search as an error. */
const maxSearchChars = 1000

export function filterOf(choice: Choice, now: number): RecordFilter {
  const since = momentOf(choice.since, now)
  const until = momentOf(choice.until, now)
  const search = searchOf(choice.text)
  const hasWords = textTest(search)
  const hasLevel = (level: string) => choice.levels.length === 0 || choice.levels.includes(level)
  const matchesButLevel = (record: LogRecord) =>
    (since === undefined || timeOf(record) >= since) &&
    (until === undefined || timeOf(record) < until) &&
    choice.only.every((condition) => holds(record, condition)) &&
    !choice.not.some((condition) => holds(record, condition)) &&
    hasWords(record.message)
  return {
    query: queryOf(choice, { search, since, until }),
    isAsked: isAsked(choice, search),
    since,
    until,
    matches: (record) => hasLevel(record.level) && matchesButLevel(record),
    hasLevel,
    matchesButLevel,
  }
}

/** The value of a record's field as a filter writes it. */
function fieldValue(record: LogRecord, field: string): string | undefined {
  if (field.startsWith(contextPrefix)) return contextValue(record, field.slice(contextPrefix.length))
  const value = (record as unknown as Record<string, unknown>)[field]
  return value === undefined ? undefined : String(value)
}

function holds(record: LogRecord, { field, value }: Condition): boolean {
  return fieldValue(record, field) === value
}

interface Parts {
  readonly search: Search
  readonly since: number | undefined
  readonly until: number | undefined
}

function queryOf(choice: Choice, { search, since, until }: Parts): URLSearchParams {
  const query = new URLSearchParams()
  if (canList(choice.levels)) query.set('level', choice.levels.join(','))
  const unwantedLevels = choice.not.filter(isListedLevel).map(({ value }) => value)
  if (unwantedLevels.length > 0) query.set('notLevel', unwantedLevels.join(','))
  for (const { field, value } of choice.only) if (asked.has(field)) query.set(field, value)
  const wanted = joined([...search.wanted, ...contextWords(choice.only)])
  if (wanted !== '') query.set('text', wanted)
  const unwanted = joined(search.unwanted)
  if (unwanted !== '') query.set('notText', unwanted)
  if (since !== undefined) query.set('since', new Date(since).toISOString())
  if (until !== undefined) query.set('until', new Date(until).toISOString())
  return query
}

function isAsked({ levels, only, not }: Choice, { wanted, unwanted }: Search): boolean {
  return (
    (levels.length === 0 || canList(levels)) &&
    only.every(({ field }, index) => asked.has(field) && only.findIndex((other) => other.field === field) === index) &&
    not.every(isListedLevel) &&
    [wanted, unwanted].every((words) => joined(words) === words.join(' '))
  )
}

/** A list of the receiver has commas between its names. */
function canList(levels: readonly string[]): boolean {
  return levels.length > 0 && levels.every((level) => level !== '' && !level.includes(','))
}

function isListedLevel({ field, value }: Condition): boolean {
  return field === 'level' && canList([value])
}

/** The context is a part of the message, so its values are words of the receiver's index. */
function contextWords(only: readonly Condition[]): string[] {
  return only
    .filter(({ field, value }) => field.startsWith(contextPrefix) && /^[\w.:-]+$/.test(value) && /[a-z\d]/i.test(value))
    .map(({ value }) => value)
}

/** As many words as the receiver takes. */
function joined(words: readonly string[]): string {
  let search = ''
  for (const word of words) {
    if (search.length + word.length < maxSearchChars) search += search === '' ? word : ` ${word}`
  }
  return search
}
