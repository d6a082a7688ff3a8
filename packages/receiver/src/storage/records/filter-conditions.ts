import type { RecordFilter } from '../record-storage.js'
import { raw, type Sql, sql } from '../sql.js'
import { type FieldCondition, fieldConditions } from './field-conditions.js'
import { type Phrase, phrasesIn } from './words.js'

/** What records are found by. */
export interface Features {
  readonly fields: readonly FieldCondition[]
  readonly phrases: readonly Phrase[]
}

/** The conditions of a filter, except times: the record has one value of each wanted field and all wanted phrases, and nothing that is unwanted. */
export interface FilterConditions {
  readonly wanted: Features
  readonly unwanted: Features
}

/** Returns undefined if no record can meet the filter: its text has no words. */
export function filterConditions(filter: RecordFilter): FilterConditions | undefined {
  const { text, notText } = filter
  const fields = fieldConditions(filter)
  const phrases = phrasesIn(text)
  if (text !== undefined && phrases.length === 0) return undefined
  return {
    wanted: { fields: fields.filter(({ not }) => not !== true), phrases },
    unwanted: { fields: fields.filter(({ not }) => not === true), phrases: phrasesIn(notText) },
  }
}

/** The conditions of a filter on the time of a record, in ms. */
export function timeConditions(column: string, { since, until }: Pick<RecordFilter, 'since' | 'until'>): Sql[] {
  const time = raw(column)
  return [
    ...(since === undefined ? [] : [sql`${time} >= ${since}`]),
    ...(until === undefined ? [] : [sql`${time} < ${until}`]),
  ]
}
