import type { Query } from '../../query/query.js'
import type { RecordFilter } from '../record-storage.js'
import { queryOfFilter, timeConditions } from '../records/filter-query.js'
import { allOf, joined, raw, type Sql, sql } from '../sql.js'
import { beginOf, type LaneName, termOfContext, termsOfPhrase, termsOfValue } from './record-terms.js'

/** Conditions on a row of the records. */
export interface Conditions {
  /** True for every row if it is undefined. */
  readonly isMet: Sql | undefined
  /** The index of terms can find the rows. */
  readonly hasTerms: boolean
  /** What the index finds, where the rows must be checked for more than it knows: there may be very many. */
  readonly isCandidate: Sql | undefined
}

/** A condition on a row, in parts that must all be true. */
interface Condition {
  /** Terms that the row must have. They are asked for at once: the terms of each row are cut into a list for each condition. */
  readonly every: readonly string[]
  readonly others: readonly Sql[]
  /** The index of terms can find the rows. */
  readonly hasTerms: boolean
}

const terms = raw(`string_to_array(terms, ' ')`)

/** The conditions of a filter; undefined if no record can meet them. */
export function conditionsOf(filter: RecordFilter): Conditions | undefined {
  const query = queryOfFilter(filter)
  if (query === undefined) return undefined
  const condition = conditionOf(filter, query)
  const all = [...piecesOf(condition), ...timeConditions('time_ms', filter)]
  const { every, others, hasTerms } = condition
  const isCandidate = every.length > 0 && others.length > 0 ? havingAll(every) : undefined
  return { isMet: all.length === 0 ? undefined : allOf(all), hasTerms, isCandidate }
}

function conditionOf(lane: LaneName, query: Query): Condition {
  switch (query.type) {
    case 'all': {
      const parts = query.of.map((each) => conditionOf(lane, each))
      return {
        every: parts.flatMap(({ every }) => every),
        others: parts.flatMap(({ others }) => others),
        hasTerms: parts.some(({ hasTerms }) => hasTerms),
      }
    }
    case 'any': {
      const parts = query.of.map((each) => conditionOf(lane, each))
      const pieces = parts.map((part) => sql`(${sqlOf(part)})`)
      return checked(sql`(${joined(pieces, ' OR ')})`, parts.length > 0 && parts.every(({ hasTerms }) => hasTerms))
    }
    case 'not':
      return checked(sql`NOT (${sqlOf(conditionOf(lane, query.of))})`)
    case 'words': {
      const written = termsOfPhrase(lane, query.phrase)
      const whole = query.isPrefix ? written.slice(0, -1) : written
      const isInOrder = sql`strpos(terms, ${` ${written.join(' ')}${query.isPrefix ? '' : ' '}`}) > 0`
      return {
        every: whole,
        others: written.length > 1 || query.isPrefix ? [isInOrder] : [],
        hasTerms: whole.length > 0,
      }
    }
    case 'value': {
      const any = termsOfValue(lane, query)
      if (any.length === 1) return { every: any, others: [], hasTerms: true }
      return checked(sql`${terms} && ${any}::text[]`, true)
    }
    case 'prefix': {
      const there = termOfContext(lane, query.field)
      if (there !== undefined && query.prefixes.includes('')) return { every: [there], others: [], hasTerms: true }
      const begins = query.prefixes.map(
        (json) => sql`strpos(terms, ${` ${beginOf(lane, { field: query.field, json })}`}) > 0`,
      )
      const isMet = sql`(${joined(begins, ' OR ')})`
      return there === undefined ? checked(isMet) : { every: [there], others: [isMet], hasTerms: true }
    }
    case 'number': {
      const there = termOfContext(lane, query.field)
      const begin = beginOf(lane, { field: query.field, json: '' })
      // PostgreSQL counts code points.
      const { length } = [...begin]
      // A cast that fails would end the search: CASE asks in this order.
      const isMet = sql`EXISTS (SELECT 1 FROM unnest(${terms}) AS term WHERE CASE
        WHEN left(term, ${length}::integer) = ${begin} AND substr(term, ${length + 1}::integer, 1) ~ '[-0-9]'
        THEN substr(term, ${length + 1}::integer)::float8 ${raw(query.is)} ${query.than}::float8 ELSE false END)`
      return there === undefined ? checked(isMet) : { every: [there], others: [isMet], hasTerms: true }
    }
    case 'time': {
      const isMet = timeConditions('time_ms', query)
      return { every: [], others: isMet, hasTerms: false }
    }
  }
}

function checked(isMet: Sql, hasTerms = false): Condition {
  return { every: [], others: [isMet], hasTerms }
}

function piecesOf({ every, others }: Condition): Sql[] {
  return every.length === 0 ? [...others] : [...others, havingAll(every)]
}

function havingAll(every: readonly string[]): Sql {
  return sql`${terms} @> ${[...new Set(every)]}::text[]`
}

function sqlOf(condition: Condition): Sql {
  const pieces = piecesOf(condition)
  return pieces.length === 0 ? raw('true') : allOf(pieces)
}
