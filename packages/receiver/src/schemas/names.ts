import { Type } from '@sinclair/typebox'

/** A name that stands in a path: of a project or a content type. */
export const nameSchema = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$',
  description:
    'a name of at most 100 letters, digits, dots, dashes and underscores that begins with a letter or a digit',
})
