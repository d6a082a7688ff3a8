import { type LogRecord, timeOf } from '../api/records.js'
import { contextValue } from '../text/message-parts.js'
import { wordSearch } from '../text/words.js'
import { momentOf } from '../view/times.js'
import type { Condition, View } from '../view/view.js'

/** The part of a view that chooses records. */
export type Choice = Pick<View, 'text' | 'levels' | 'only' | 'not' | 'since' | 'until'>

/** Chooses records: the receiver does what its queries can, the page does the rest. */
export interface RecordFilter {
  /** The queries whose answers together hold all records of the choice. */
  readonly queries: readonly URLSearchParams[]
  matches(record: LogRecord): boolean
}

/** Fields of the context begin with this. */
export const contextPrefix = 'context.'
/** Fields that the queries of the receiver know. */
const asked = new Set(['appName', 'env', 'eventId'])
/** The receiver takes a longer search as an error. */
const maxSearchChars = 1000

export function filterOf(choice: Choice, now: number): RecordFilter {
  const since = momentOf(choice.since, now)
  const until = momentOf(choice.until, now)
  const hasWords = wordSearch(choice.text)
  return {
    queries: queriesOf(choice, { since, until }),
    matches: (record) =>
      (choice.levels.length === 0 || choice.levels.includes(record.level)) &&
      (since === undefined || timeOf(record) >= since) &&
      (until === undefined || timeOf(record) < until) &&
      choice.only.every((condition) => holds(record, condition)) &&
      !choice.not.some((condition) => holds(record, condition)) &&
      (choice.text === '' || hasWords(record.message)),
  }
}

/** The value of a record's field as a filter writes it. */
export function fieldValue(record: LogRecord, field: string): string | undefined {
  if (field.startsWith(contextPrefix)) return contextValue(record, field.slice(contextPrefix.length))
  const value = (record as unknown as Record<string, unknown>)[field]
  return value === undefined ? undefined : String(value)
}

function holds(record: LogRecord, { field, value }: Condition): boolean {
  return fieldValue(record, field) === value
}

function queriesOf(choice: Choice, span: { since: number | undefined; until: number | undefined }): URLSearchParams[] {
  const query = new URLSearchParams()
  for (const { field, value } of choice.only) if (asked.has(field)) query.set(field, value)
  const search = searchOf(choice)
  if (search !== '') query.set('text', search)
  if (span.since !== undefined) query.set('since', new Date(span.since).toISOString())
  if (span.until !== undefined) query.set('until', new Date(span.until).toISOString())
  if (choice.levels.length === 0) return [query]
  return choice.levels.map((level) => {
    const withLevel = new URLSearchParams(query)
    withLevel.set('level', level)
    return withLevel
  })
}

/** The context is a part of the message, so its values are words of the receiver's index. */
function searchOf({ text, only }: Choice): string {
  const words = [text.trim()]
  for (const { field, value } of only) {
    if (field.startsWith(contextPrefix) && /^[\w.:-]+$/.test(value) && /[a-z\d]/i.test(value)) words.push(value)
  }
  let search = ''
  for (const word of words) {
    if (word !== '' && search.length + word.length < maxSearchChars) search += search === '' ? word : ` ${word}`
  }
  return /[\p{L}\p{N}]/u.test(search) ? search : ''
}
