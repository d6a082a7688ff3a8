import type { Phrase } from '../storage/records/words.js'

/** Fields of a record that queries know under a short name; `error` is the id of the kind of error that it tells of. */
export type OwnField = 'level' | 'eventId' | 'appName' | 'env' | 'machineName' | 'appVersion' | 'error'

/** A field of the record, or a field of its context: a dot and the keys with dots between them, such as `.req.method`. */
export type FieldName = OwnField | `.${string}`

export type Comparison = '<' | '<=' | '>' | '>='

/** What a record must be like. */
export type Query =
  | { readonly type: 'all' | 'any'; readonly of: readonly Query[] }
  | { readonly type: 'not'; readonly of: Query }
  /** The message has the words side by side. With `isPrefix` the last one may go on. */
  | { readonly type: 'words'; readonly phrase: Phrase; readonly isPrefix?: true }
  /** The field has one of the values. They are JSON: a store may not keep every text as it is. */
  | { readonly type: 'value'; readonly field: FieldName; readonly values: readonly string[] }
  /** The JSON of the field begins with one of these. That of every value begins with nothing. */
  | { readonly type: 'prefix'; readonly field: FieldName; readonly prefixes: readonly string[] }
  /** The field is a number for which this is true. */
  | { readonly type: 'number'; readonly field: FieldName; readonly is: Comparison; readonly than: number }
  /** `since` <= time of the record < `until`, in ms since 1970. */
  | { readonly type: 'time'; readonly since?: number; readonly until?: number }

/** One query that means all of them. */
export function allOf(queries: readonly Query[]): Query {
  const flat = queries.flatMap((query) => (query.type === 'all' ? query.of : [query]))
  return flat.length === 1 ? flat[0]! : { type: 'all', of: flat }
}

/** One query that means any of them. */
export function anyOf(queries: readonly Query[]): Query {
  const flat = queries.flatMap((query) => (query.type === 'any' ? query.of : [query]))
  return flat.length === 1 ? flat[0]! : { type: 'any', of: flat }
}
