import { Type } from '@sinclair/typebox'

const maxNameCharacters = 100
const maxAddressCharacters = 8192

const name = Type.String({
  minLength: 1,
  maxLength: maxNameCharacters,
  // A browser takes the path that ends with a dot or two for another one.
  pattern: '^(?!\\.\\.?$)[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  description: 'a text without control characters, and neither one dot nor two',
})
const hash = Type.String({
  maxLength: maxAddressCharacters,
  pattern: '^#',
  description: 'the part of the address of the page that begins with #',
})

/** Path of `/api/views/{name}`. */
export const namedViewSchema = Type.Object({ name }, { title: 'view' })
/** Body of `PUT /api/views/{name}`. */
export const addressBodySchema = Type.Object({ hash }, { additionalProperties: false, title: 'address' })
export const savedViewSchema = Type.Object({ name, hash })
