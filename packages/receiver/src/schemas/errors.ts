import { type Static, Type } from '@sinclair/typebox'
import { hintSchema } from './envelopes.js'
import { timeSchema } from './record-queries.js'
import { utcTimeSchema } from './time.js'

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

const errorSchema = Type.Object({
  id: Type.String({ description: 'The same for the same type, message and frame, on every receiver' }),
  type: textOrNull('Class of the error; null for a log without a stack'),
  message: Type.String({
    description: 'First line, with placeholders for quoted texts, numbers, times, ids and addresses',
  }),
  frame: textOrNull('First frame of the application, without its line; null where there is none'),
  count: Type.Integer(),
  firstSeen: Type.String({ ...utcTimeSchema, description: 'Time of the first of all records that are kept' }),
  lastSeen: utcTimeSchema,
  apps: Type.Array(Type.String()),
  versions: Type.Array(Type.String(), { description: 'Versions that had the error, the newest last' }),
  sample: Type.Integer({ description: 'Id of a record with the error' }),
  new: Type.Optional(
    Type.Literal(true, { description: 'Only the newest version had the error, and there was an earlier one' }),
  ),
  steps: Type.Array(Type.Integer(), { description: 'Number of records by step, at most 24 steps' }),
})

/** Kinds of error. */
export const errorsSchema = Type.Object({
  total: Type.Integer({ description: 'Number of all kinds' }),
  list: Type.Array(errorSchema, { description: 'The most frequent first' }),
  from: Type.String({ ...utcTimeSchema, description: 'When the first step begins' }),
  stepMs: Type.Integer({ description: 'Length of a step' }),
  hint: hintSchema,
})
export type ErrorsAnswer = Static<typeof errorsSchema>

export const errorsQuerySchema = Type.Object(
  {
    since: Type.Optional(timeSchema),
    app: Type.Optional(Type.String({ description: 'Only records of this service' })),
    env: Type.Optional(Type.String()),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Most kinds in the answer' }),
    ),
  },
  { additionalProperties: false, title: 'query' },
)
export type ErrorsQueryString = Static<typeof errorsQuerySchema>
