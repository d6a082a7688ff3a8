import { type Static, Type } from '@sinclair/typebox'
import { scopes } from '../keys/scopes.js'
import { utcTimeSchema } from './time.js'

const scopesSchema = Type.Array(Type.Union(scopes.map((scope) => Type.Literal(scope))), {
  minItems: 1,
  maxItems: scopes.length,
})

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
  },
  { additionalProperties: false, title: 'key' },
)
export type NewKeyBody = Static<typeof newKeySchema>

const listed = {
  id: Type.String(),
  name: Type.String(),
  scopes: scopesSchema,
  createdAt: utcTimeSchema,
  lastUsed: Type.Union([Type.String({ format: 'date' }), Type.Null()], { description: 'The last day, in UTC' }),
}
export const listedKeySchema = Type.Object(listed)
export const madeKeySchema = Type.Object({ ...listed, key: Type.String({ description: 'The key, shown only now' }) })
