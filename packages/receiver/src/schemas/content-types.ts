import { type Static, Type } from '@sinclair/typebox'
import { nameSchema } from './names.js'
import { utcTimeSchema } from './time.js'

const maxFields = 500
const maxTextLength = 10_000

/** An element of a content type's `schema`. The API's document does not show other types or attributes. */
export const fieldDefinitionSchema = Type.Object(
  {
    key: Type.String({
      pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,99}$',
      description:
        'a key of at most 100 letters, digits, dashes and underscores that begins with a letter or an underscore',
    }),
    label: Type.String({ maxLength: 200 }),
    type: Type.Union([Type.Literal('text'), Type.Literal('richtext')]),
    required: Type.Boolean(),
    maxLength: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Most characters; of richtext, its markup included' }),
    ),
  },
  { additionalProperties: false, title: 'field definition' },
)
export type FieldDefinition = Static<typeof fieldDefinitionSchema>

const description = Type.String({ maxLength: maxTextLength })
const name = Type.String({ minLength: 1, maxLength: 200 })
const displayField = Type.String({ description: 'Key of the field used for display; the first one when left out' })
const schema = Type.Array(fieldDefinitionSchema, { minItems: 1, maxItems: maxFields })

/** Body of `POST /api/projects/{projectId}/content-types`. */
export const newContentTypeSchema = Type.Object(
  { key: nameSchema, name, description: Type.Optional(description), displayField: Type.Optional(displayField), schema },
  { additionalProperties: false, title: 'content type' },
)
export type NewContentTypeBody = Static<typeof newContentTypeSchema>

/** Body of `PUT /api/projects/{projectId}/content-types/{key}`: the same fields. The key cannot change and may be left out. */
export const contentTypeChangeSchema = Type.Object(
  {
    key: Type.Optional(Type.String({ description: 'The one of the path' })),
    name,
    description: Type.Optional(description),
    displayField: Type.Optional(displayField),
    schema,
  },
  { additionalProperties: false, title: 'change of a content type' },
)
export type ContentTypeChangeBody = Static<typeof contentTypeChangeSchema>

/** CmsContentTypeDto. */
export const contentTypeSchema = Type.Object(
  {
    id: Type.String(),
    projectId: Type.String(),
    name: Type.String(),
    key: Type.String(),
    description: Type.String(),
    displayField: Type.String(),
    schema: Type.Array(fieldDefinitionSchema),
    schemaVersion: Type.Number(),
    fieldsCount: Type.Number(),
    isActive: Type.Boolean(),
    createdBy: Type.Number({ description: 'The receiver has no users: always 0' }),
    updatedBy: Type.Number({ description: 'The receiver has no users: always 0' }),
    updatedByName: Type.String(),
    createdAt: utcTimeSchema,
    updatedAt: utcTimeSchema,
  },
  { additionalProperties: false, title: 'CmsContentTypeDto' },
)
export type ContentType = Static<typeof contentTypeSchema>
