import { allOf, type Query } from '../../query/query.js'
import type { RecordFilter } from '../record-storage.js'
import { raw, type Sql, sql } from '../sql.js'
import { fieldConditions } from './field-conditions.js'
import { type Phrase, phrasesIn } from './words.js'

/** What a filter means, but for its times. Undefined if no record can meet it: its text has no words. */
export function queryOfFilter(filter: RecordFilter): Query | undefined {
  const { text, notText, query } = filter
  const phrases = phrasesIn(text)
  if (text !== undefined && phrases.length === 0) return undefined
  const fields = fieldConditions(filter).map(({ field, values, not }): Query => {
    const value = { type: 'value', field, values } as const
    return not === true ? { type: 'not', of: value } : value
  })
  return allOf([
    ...fields,
    ...phrases.map(wordsOf),
    ...phrasesIn(notText).map((phrase) => ({ type: 'not', of: wordsOf(phrase) }) as const),
    ...(query === undefined ? [] : [query]),
  ])
}

/** The conditions of a filter on the time of a record, in ms. */
export function timeConditions(column: string, { since, until }: Pick<RecordFilter, 'since' | 'until'>): Sql[] {
  const time = raw(column)
  return [
    ...(since === undefined ? [] : [sql`${time} >= ${since}`]),
    ...(until === undefined ? [] : [sql`${time} < ${until}`]),
  ]
}

function wordsOf(phrase: Phrase): Query {
  return { type: 'words', phrase }
}
