import type { Query } from '../../query/query.js'
import type { RecordFilter } from '../record-storage.js'
import { queryOfFilter, timeConditions } from '../records/filter-query.js'
import { allOf, joined, raw, type Sql, sql } from '../sql.js'
import { beginOf, type LaneName, termOfContext, termsOfPhrase, termsOfValue } from './record-terms.js'

/** Conditions on a row of the records. */
export interface Conditions {
  /** True for every row if it is undefined. It looks at the texts of the row, which is faster than the lists that the index has. */
  readonly isMet: Sql | undefined
  /** How the index of terms finds the rows. Undefined where it cannot. */
  readonly indexed: IndexedConditions | undefined
}

/** Conditions on the index of terms. */
export interface IndexedConditions {
  /** What it knows: all rows that meet the conditions, and perhaps others. */
  readonly isCandidate: Sql
  /** The same, and what else must be checked of these rows. */
  readonly isMet: Sql
}

/** A condition on a row, in parts that must all be true. */
interface Condition {
  readonly checks: readonly Sql[]
  /** Of the index of terms; none where it cannot find the rows. */
  readonly candidates: readonly Sql[]
  /** Those of the checks that the rows must pass which the index has found. */
  readonly rest: readonly Sql[]
}

const terms = raw(`string_to_array(terms, ' ')`)

/** The conditions of a filter; undefined if no record can meet them. */
export function conditionsOf(filter: RecordFilter): Conditions | undefined {
  const query = queryOfFilter(filter)
  if (query === undefined) return undefined
  const { checks, candidates, rest } = conditionOf(filter, query)
  const times = timeConditions('time_ms', filter)
  const all = [...checks, ...times]
  const indexed = { isCandidate: allOf(candidates), isMet: allOf([...candidates, ...rest, ...times]) }
  return { isMet: all.length === 0 ? undefined : allOf(all), indexed: candidates.length === 0 ? undefined : indexed }
}

function conditionOf(lane: LaneName, query: Query): Condition {
  switch (query.type) {
    case 'all': {
      const parts = query.of.map((each) => conditionOf(lane, each))
      return {
        checks: parts.flatMap(({ checks }) => checks),
        candidates: parts.flatMap(({ candidates }) => candidates),
        rest: parts.flatMap(({ rest }) => rest),
      }
    }
    case 'any': {
      const parts = query.of.map((each) => conditionOf(lane, each))
      const isFound = parts.every(({ candidates }) => candidates.length > 0)
      const checks = [anyOf(parts.map((part) => part.checks))]
      if (!isFound) return checked(checks)
      const isExact = parts.every(({ rest }) => rest.length === 0)
      return {
        checks,
        candidates: [anyOf(parts.map(({ candidates }) => candidates))],
        rest: isExact ? [] : checks,
      }
    }
    case 'not': {
      const { checks } = conditionOf(lane, query.of)
      return checked([sql`NOT ${conjunction(checks)}`])
    }
    case 'words': {
      const written = termsOfPhrase(lane, query.phrase)
      const whole = query.isPrefix ? written.slice(0, -1) : written
      const checks = [sql`strpos(terms, ${` ${written.join(' ')}${query.isPrefix ? '' : ' '}`}) > 0`]
      if (whole.length === 0) return checked(checks)
      return { checks, candidates: [havingAll(whole)], rest: written.length > 1 ? checks : [] }
    }
    case 'value': {
      const any = termsOfValue(lane, query)
      return {
        checks: [anyOf(any.map((term) => [sql`strpos(terms, ${` ${term} `}) > 0`]))],
        candidates: [any.length === 1 ? havingAll(any) : sql`${terms} && ${any}::text[]`],
        rest: [],
      }
    }
    case 'prefix': {
      const there = termOfContext(lane, query.field)
      const begins = query.prefixes.map((json) => [
        sql`strpos(terms, ${` ${beginOf(lane, { field: query.field, json })}`}) > 0`,
      ])
      return ofContext(there, there !== undefined && query.prefixes.includes('') ? undefined : anyOf(begins))
    }
    case 'number': {
      const begin = beginOf(lane, { field: query.field, json: '' })
      // PostgreSQL counts code points.
      const { length } = [...begin]
      // A cast that fails would end the search: CASE asks in this order.
      const isMet = sql`EXISTS (SELECT 1 FROM unnest(${terms}) AS term WHERE CASE
        WHEN left(term, ${length}::integer) = ${begin} AND substr(term, ${length + 1}::integer, 1) ~ '[-0-9]'
        THEN substr(term, ${length + 1}::integer)::float8 ${raw(query.is)} ${query.than}::float8 ELSE false END)`
      return ofContext(termOfContext(lane, query.field), isMet)
    }
    case 'time':
      return checked(timeConditions('time_ms', query))
  }
}

/** @param there the term of records that have the field, if the index has one */
function ofContext(there: string | undefined, isMet: Sql | undefined): Condition {
  const rest = isMet === undefined ? [] : [isMet]
  if (there === undefined) return checked(rest)
  return { checks: [sql`strpos(terms, ${` ${there} `}) > 0`, ...rest], candidates: [havingAll([there])], rest }
}

function checked(checks: readonly Sql[]): Condition {
  return { checks, candidates: [], rest: checks }
}

function havingAll(every: readonly string[]): Sql {
  return sql`${terms} @> ${[...new Set(every)]}::text[]`
}

function anyOf(parts: readonly (readonly Sql[])[]): Sql {
  return parts.length === 0 ? raw('false') : sql`(${joined(parts.map(conjunction), ' OR ')})`
}

function conjunction(parts: readonly Sql[]): Sql {
  return parts.length === 0 ? raw('true') : sql`(${allOf(parts)})`
}
