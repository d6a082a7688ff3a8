import { type Static, Type } from '@sinclair/typebox'
import { utcTimeSchema } from './time.js'

const wholeNumber = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }

/** Filters of records. They may be combined. */
export const recordFilterSchema = {
  level: Type.Optional(Type.String()),
  eventId: Type.Optional(Type.Number()),
  appName: Type.Optional(Type.String()),
  env: Type.Optional(Type.String()),
  text: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description: 'Words that the message must contain, in any order; case and accents are ignored',
    }),
  ),
  since: Type.Optional(utcTimeSchema),
  until: Type.Optional(utcTimeSchema),
} as const

/** Query of the routes that read records. */
export const recordQuerySchema = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Most records in the answer' }),
    ),
    before: Type.Optional(
      Type.Integer({ ...wholeNumber, description: 'Only records with a smaller id: the next page' }),
    ),
    ...recordFilterSchema,
  },
  { additionalProperties: false, title: 'query' },
)
export type RecordQueryString = Static<typeof recordQuerySchema>

/** A time of a query in ms since 1970. */
export function timeOf(written: string | undefined): number | undefined {
  return written === undefined ? undefined : Date.parse(written)
}
