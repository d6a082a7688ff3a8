import { type Static, Type } from '@sinclair/typebox'
import type { RecordKind } from '../storage/record-storage.js'
import { hintSchema } from './envelopes.js'
import { recordFilterSchema } from './record-queries.js'
import { utcTimeSchema } from './time.js'

const counts = Type.Record(Type.String(), Type.Integer(), { description: 'Number of records by value' })

/** Records counted by level or event, and by time. */
export const countsSchema = Type.Object({
  by: Type.String(),
  total: Type.Integer(),
  totals: counts,
  lastSeen: Type.Record(Type.String(), utcTimeSchema, { description: 'Time of the last record by value' }),
  stepMs: Type.Optional(Type.Integer()),
  list: Type.Optional(
    Type.Array(Type.Object({ time: utcTimeSchema, counts }), {
      description: 'Steps that have records, oldest first',
    }),
  ),
  others: Type.Optional(
    Type.Integer({ description: 'Records of all values but the 1,000 most frequent. No value stands for them.' }),
  ),
  /** Counting has stopped: records before this time are not counted. */
  countedSince: Type.Optional(utcTimeSchema),
  hint: hintSchema,
})
export type CountsAnswer = Static<typeof countsSchema>

/** By what each kind is counted. */
export const countedBy = { logs: 'level', values: 'event' } as const satisfies Record<RecordKind, string>

/** Query of the counts of a kind. */
export function countsQuerySchema(kind: RecordKind) {
  return Type.Object(
    {
      by: Type.Optional(Type.Union([Type.Literal(countedBy[kind])])),
      step: Type.Optional(
        Type.String({
          pattern: '^[1-9]\\d{0,5}[mhd]$',
          description: 'a number of minutes, hours or days, such as 1m, 5m, 1h or 1d',
        }),
      ),
      ...recordFilterSchema,
    },
    { additionalProperties: false, title: 'query' },
  )
}
export type CountsQueryString = Static<ReturnType<typeof countsQuerySchema>>
