import { type Static, Type } from '@sinclair/typebox'
import { utcTimeSchema } from './time.js'

const fields = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'Values by field key, as the schema of the content type requires',
})

/** CreateContentEntryRequest. */
export const newEntrySchema = Type.Object({ fields }, { additionalProperties: false, title: 'content entry' })
export type NewEntryBody = Static<typeof newEntrySchema>

/** MigrateContentEntryRequest. */
export const migratedEntrySchema = Type.Object(
  {
    fields,
    contentTypeKey: Type.Optional(
      Type.String({ description: 'Key or id of the content type, in the place of typeKey' }),
    ),
    createdAt: Type.Optional(utcTimeSchema),
    updatedAt: Type.Optional(utcTimeSchema),
    publishedAt: Type.Optional(utcTimeSchema),
  },
  { additionalProperties: false, title: 'migrated content entry' },
)
export type MigratedEntryBody = Static<typeof migratedEntrySchema>

/** A stored entry, as the receiver's own routes return it. */
export const entrySchema = Type.Object(
  {
    id: Type.String(),
    projectId: Type.String(),
    contentTypeId: Type.String(),
    contentTypeKey: Type.String(),
    schemaVersion: Type.Number({ description: 'Of the schema that the fields were checked against' }),
    state: Type.Union([Type.Literal('Draft'), Type.Literal('Published')]),
    fields,
    createdAt: utcTimeSchema,
    updatedAt: utcTimeSchema,
    publishedAt: Type.Union([utcTimeSchema, Type.Null()]),
  },
  { additionalProperties: false, title: 'stored content entry' },
)
export type Entry = Static<typeof entrySchema>
