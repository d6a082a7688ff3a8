import { type Static, Type } from '@sinclair/typebox'
import type { LogRecord, ValueRecord } from 'sluice'

const strict = { additionalProperties: false } as const

/** Body of `POST /logs/{bucketId}`. */
export const logRecordSchema = Type.Object(
  {
    timeStamp: Type.Number({ description: 'Unix time of the line; the API does not say in which unit' }),
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
  strict,
)

/** Body of `POST /value_tracking/{bucketId}`. Which fields are required is not shown: those without which it says nothing. */
export const valueRecordSchema = Type.Object(
  {
    timeStamp: Type.Number(),
    eventId: Type.Number(),
    appName: Type.String(),
    env: Type.Optional(Type.String()),
    appVersion: Type.Optional(Type.String()),
    runtimeVersion: Type.Optional(Type.String()),
    runtime: Type.Optional(Type.Number()),
  },
  strict,
)

/** The library's types and these schemas describe the same records; these lines do not compile when they part. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never
export const schemasAgreeWithLibrary: [
  Same<Static<typeof logRecordSchema>, Mutable<LogRecord>>,
  Same<Static<typeof valueRecordSchema>, Mutable<ValueRecord>>,
] = [true, true]
type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
