import type { RecordFilter } from '../record-storage.js'
import { filterConditions, timeConditions } from '../records/filter-conditions.js'
import { allOf, raw, type Sql, sql } from '../sql.js'
import { termsOfCondition, termsOfPhrase } from './record-terms.js'

/** Conditions on a row of the records. */
export interface Conditions {
  /** True for every row if it is undefined. */
  readonly isMet: Sql | undefined
  /** The index of terms can find the rows. */
  readonly hasTerms: boolean
}

const terms = raw(`string_to_array(terms, ' ')`)

/** The conditions of a filter on words and fields, and on times; undefined if no record can meet them. */
export function conditionsOf(filter: RecordFilter): Conditions | undefined {
  const conditions = filterConditions(filter)
  if (conditions === undefined) return undefined
  const { wanted, unwanted } = conditions
  const lists = wanted.fields.map((field) => termsOfCondition(filter, field))
  const phrases = wanted.phrases.map((phrase) => termsOfPhrase(filter, phrase))
  // Terms that a row must have all are asked for at once: the terms of each row are cut into a list for each condition.
  const every = [...lists.filter(({ length }) => length === 1), ...phrases].flat()
  const all = [
    ...lists.filter(({ length }) => length !== 1).map((any) => sql`${terms} && ${any}::text[]`),
    ...unwanted.fields.map((field) => sql`NOT ${terms} && ${termsOfCondition(filter, field)}::text[]`),
    ...phrases.filter(({ length }) => length > 1).map((phrase) => sql`strpos(terms, ${inOrder(phrase)}) > 0`),
    ...unwanted.phrases.map((phrase) => sql`strpos(terms, ${inOrder(termsOfPhrase(filter, phrase))}) = 0`),
    ...(every.length === 0 ? [] : [sql`${terms} @> ${every}::text[]`]),
    ...timeConditions('time_ms', filter),
  ]
  return { isMet: all.length === 0 ? undefined : allOf(all), hasTerms: every.length > 0 || lists.length > 0 }
}

/** The terms as they stand next to each other in those of a row. */
function inOrder(terms: readonly string[]): string {
  return ` ${terms.join(' ')} `
}
