import { type Static, Type } from '@sinclair/typebox'
import type { LogRecord, ValueRecord } from 'sluice'
import { timesBelow } from '../storage/records/record-times.js'
import { utcTimeSchema } from './time.js'

const timeStampSchema = Type.Number({
  exclusiveMinimum: -timesBelow,
  exclusiveMaximum: timesBelow,
  description: 'a Unix time in s, ms, µs or ns, which its size tells: the API does not name the unit',
})

/** Body of `POST /logs/{bucketId}`. */
export const logRecordSchema = Type.Object(
  {
    timeStamp: timeStampSchema,
    level: Type.String(),
    message: Type.String(),
    appName: Type.String({ description: 'Service name' }),
    machineName: Type.Optional(Type.String()),
    eventId: Type.Optional(Type.Number()),
    env: Type.Optional(Type.String()),
    appVersion: Type.Optional(Type.String()),
    runtimeVersion: Type.Optional(Type.String()),
    runtime: Type.Optional(Type.Number()),
  },
  { additionalProperties: false, title: 'log record' },
)

/** Body of `POST /value_tracking/{bucketId}`. The API's document does not name the required fields; a record is useless without these. */
export const valueRecordSchema = Type.Object(
  {
    timeStamp: timeStampSchema,
    eventId: Type.Number(),
    appName: Type.String(),
    env: Type.Optional(Type.String()),
    appVersion: Type.Optional(Type.String()),
    runtimeVersion: Type.Optional(Type.String()),
    runtime: Type.Optional(Type.Number()),
  },
  {
    additionalProperties: false,
    title: 'value record',
    description:
      'the sample body of the document (name, slug, section, imageUrl) is not accepted, for its own table lists these',
  },
)

/** Fails to compile when these schemas and the library's types no longer describe the same records. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never
export const schemasAgreeWithLibrary: [
  Same<Static<typeof logRecordSchema>, Mutable<LogRecord>>,
  Same<Static<typeof valueRecordSchema>, Mutable<ValueRecord>>,
] = [true, true]
type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** A record as the receiver's own routes return it. */
const own = { id: Type.Integer(), receivedAt: utcTimeSchema }
export const storedRecordSchemas = {
  logs: Type.Object(
    { ...own, ...logRecordSchema.properties },
    { additionalProperties: false, title: 'stored log record' },
  ),
  values: Type.Object(
    { ...own, ...valueRecordSchema.properties },
    { additionalProperties: false, title: 'stored value record' },
  ),
} as const
