import type { RecordFilter } from '../record-storage.js'
import { fieldConditions } from '../records/field-conditions.js'
import { phrasesOf, termsOfCondition } from './record-terms.js'

/** Conditions as SQL on a row of the records, with numbered parameters. */
export interface Conditions {
  /** True for every row if it is empty. */
  readonly sql: string
  readonly values: readonly unknown[]
  /** The index of terms can find the rows. */
  readonly hasTerms: boolean
}

const terms = `string_to_array(terms, ' ')`

/**
 * The conditions of a filter on words and fields, and on times.
 *
 * @param first number of the first parameter
 * @returns undefined if no record can meet them
 */
export function conditionsOf(filter: RecordFilter, first: number): Conditions | undefined {
  const { text, notText, since, until } = filter
  const parts: string[] = []
  const values: unknown[] = []
  const parameter = (value: unknown) => `$${first + values.push(value) - 1}`
  const every: string[] = []

  for (const condition of fieldConditions(filter)) {
    const wanted = termsOfCondition(filter, condition)
    if (condition.not === true) parts.push(`NOT ${terms} && ${parameter(wanted)}::text[]`)
    else if (wanted.length === 1) every.push(...wanted)
    else parts.push(`${terms} && ${parameter(wanted)}::text[]`)
  }
  const phrases = text === undefined ? [] : phrasesOf(filter, text)
  if (text !== undefined && phrases.length === 0) return undefined
  for (const phrase of phrases) {
    every.push(...phrase)
    if (phrase.length > 1) parts.push(`strpos(terms, ${parameter(` ${phrase.join(' ')} `)}) > 0`)
  }
  for (const phrase of notText === undefined ? [] : phrasesOf(filter, notText)) {
    parts.push(`strpos(terms, ${parameter(` ${phrase.join(' ')} `)}) = 0`)
  }
  if (every.length > 0) parts.push(`${terms} @> ${parameter(every)}::text[]`)
  if (since !== undefined) parts.push(`time_ms >= ${parameter(since)}::float8`)
  if (until !== undefined) parts.push(`time_ms < ${parameter(until)}::float8`)
  const hasTerms = every.length > 0 || fieldConditions(filter).some(({ not }) => not !== true)
  return { sql: parts.join(' AND '), values, hasTerms }
}
