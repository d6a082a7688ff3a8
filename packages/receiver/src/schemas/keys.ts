import { type Static, Type } from '@sinclair/typebox'
import { scopes } from '../keys/scopes.js'
import { nameSchema } from './names.js'
import { utcTimeSchema } from './time.js'

const scopesSchema = Type.Array(Type.Union(scopes.map((scope) => Type.Literal(scope))), {
  minItems: 1,
  maxItems: scopes.length,
})

/** Most projects to which a key is bound. */
export const maxKeyProjects = 100

/** Longest name of a key, in characters. */
export const maxNameCharacters = 200
/** A name is one line of a list. */
export const namePattern = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

/** Body of `POST /api/keys`. */
export const newKeySchema = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        maxLength: maxNameCharacters,
        pattern: namePattern,
        description: 'a text without control characters',
      }),
    ),
    scopes: Type.Optional(scopesSchema),
    projects: Type.Optional(
      Type.Array(nameSchema, {
        minItems: 1,
        maxItems: maxKeyProjects,
        description: 'The scopes hold for these projects alone. Default: for all',
      }),
    ),
  },
  { additionalProperties: false, title: 'key' },
)
export type NewKeyBody = Static<typeof newKeySchema>

const listed = {
  id: Type.String(),
  name: Type.String(),
  scopes: scopesSchema,
  projects: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'The projects for which the scopes hold; null: all',
  }),
  createdAt: utcTimeSchema,
  lastUsed: Type.Union([Type.String({ format: 'date' }), Type.Null()], { description: 'The last day, in UTC' }),
}
export const listedKeySchema = Type.Object(listed)
export const madeKeySchema = Type.Object({ ...listed, key: Type.String({ description: 'The key, shown only now' }) })
