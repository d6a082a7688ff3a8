import { type Static, Type } from '@sinclair/typebox'
import { levelNames } from '../../../../src/records/level.js'
import { maxQueryLength, parseQuery } from '../query/parse-query.js'
import type { RecordFilter, RecordKind } from '../storage/record-storage.js'
import { withQuery } from '../storage/records/filter-with-query.js'
import { msOf } from './duration.js'
import { utcTimeSchema } from './time.js'

const wholeNumber = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
const words = { minLength: 1, maxLength: 1000 }

const levelListSchema = Type.String({
  pattern: '^[^,]+(,[^,]+)*$',
  description: 'names of levels with commas between them, such as warn,error',
})

/** A time of a query. */
export const timeSchema = Type.Union([
  utcTimeSchema,
  Type.String({ pattern: '^\\d{1,6}[smhd]$', description: 'a time ago, such as 30s, 5m, 2h or 7d' }),
])

/** Filters of records. They may be combined. */
export const recordFilterSchema = {
  level: Type.Optional(levelListSchema),
  minLevel: Type.Optional(
    Type.Union(
      levelNames.map((name) => Type.Literal(name)),
      { description: 'Only logs of this level and above. Levels of other names are left out.' },
    ),
  ),
  notLevel: Type.Optional(levelListSchema),
  eventId: Type.Optional(Type.Number()),
  appName: Type.Optional(Type.String()),
  env: Type.Optional(Type.String()),
  machineName: Type.Optional(Type.String()),
  appVersion: Type.Optional(Type.String()),
  text: Type.Optional(
    Type.String({
      ...words,
      description: 'Words that the message must contain, in any order; case and accents are ignored',
    }),
  ),
  notText: Type.Optional(
    Type.String({ ...words, description: 'Words that the message must not contain, none of them' }),
  ),
  q: Type.Optional(
    Type.String({
      maxLength: maxQueryLength,
      description: 'A query in the language of searching, such as level>=warn res.statusCode>=500 -health',
    }),
  ),
  since: Type.Optional(timeSchema),
  until: Type.Optional(timeSchema),
} as const

const filterSchema = Type.Object(recordFilterSchema)
export type FilterQueryString = Static<typeof filterSchema>

/** Query of the routes that read records. */
export const recordQuerySchema = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Most records in the answer' }),
    ),
    before: Type.Optional(
      Type.Integer({ ...wholeNumber, description: 'Only records with a smaller id: the next page' }),
    ),
    after: Type.Optional(
      Type.Integer({
        ...wholeNumber,
        description:
          'Only records with a larger id. Without before, those that follow it: the next page is after the largest id of this one',
      }),
    ),
    ...recordFilterSchema,
  },
  { additionalProperties: false, title: 'query' },
)
export type RecordQueryString = Static<typeof recordQuerySchema>

/** Query of the facets: a bucket, and the filters of reading. */
export const facetQuerySchema = Type.Object(
  { bucket: Type.String(), ...recordFilterSchema },
  { additionalProperties: false, title: 'query' },
)
export type FacetQueryString = Static<typeof facetQuerySchema>

/**
 * The filters of a query. Times ago are counted from now.
 *
 * @throws {QueryError} for a `q` that cannot be understood
 */
export function filterOf(
  { kind, bucket }: { readonly kind: RecordKind; readonly bucket: string },
  { level, notLevel, since, until, q = '', ...exact }: FilterQueryString,
): RecordFilter {
  const now = Date.now()
  const filter = {
    ...exact,
    kind,
    bucket,
    levels: level?.split(','),
    notLevels: notLevel?.split(','),
    since: since === undefined ? undefined : timeOf(since, now),
    until: until === undefined ? undefined : timeOf(until, now),
  }
  return withQuery(filter, parseQuery(q, now))
}

/** A time of a query in ms since 1970. */
export function timeOf(written: string, now: number): number {
  const ago = msOf(written)
  return ago === undefined ? Date.parse(written) : now - ago
}
