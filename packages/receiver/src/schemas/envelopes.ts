import { type Static, type TSchema, Type } from '@sinclair/typebox'

export const validationErrorSchema = Type.Object({
  name: Type.String({ description: 'The field that failed' }),
  attemptedValue: Type.Unknown({ description: 'What was sent; null for a missing field' }),
  message: Type.String(),
})
export type ValidationError = Static<typeof validationErrorSchema>

export const errorDetailSchema = Type.Object({
  correlationId: Type.String(),
  message: Type.String(),
  stack: Type.Optional(Type.String({ description: 'Only outside production' })),
})
export type ErrorDetail = Static<typeof errorDetailSchema>

/** Beside an empty answer. */
export const hintSchema = Type.Optional(
  Type.String({
    description:
      'A field, level or other value of the question that no record has, with those that occur and the nearest',
  }),
)

/** ApiResponse<T>, success. */
export function successSchema<Result extends TSchema>(result: Result) {
  return Type.Object({ success: Type.Literal(true), result, errors: Type.Array(errorDetailSchema, { maxItems: 0 }) })
}

/** Body of 200 and 201 of the content operations. */
export function success<Result>(result: Result) {
  return { success: true, result, errors: [] } as const
}

/** ApiResponse<T>, validation failure. */
export const invalidSchema = Type.Object({
  isValid: Type.Literal(false),
  validationErrors: Type.Array(validationErrorSchema),
})
export type Invalid = Static<typeof invalidSchema>

/** ApiResponse<T>, server failure. Also the body of 401, 404 and 412, which the API's document does not show. */
export const failureSchema = Type.Object({ success: Type.Literal(false), errors: Type.Array(errorDetailSchema) })
export type Failure = Static<typeof failureSchema>

/** GenericResultResponse<bool>: the body of the answer to a log or value record. */
export const genericResultSchema = Type.Object({
  result: Type.Boolean(),
  validationErrors: Type.Array(validationErrorSchema),
  errors: Type.Array(errorDetailSchema),
})
export type GenericResult = Static<typeof genericResultSchema>

/** Body of 500 for a log or value record. The API's document describes it twice; this fits both descriptions. */
export const genericFailureSchema = Type.Intersect([failureSchema, genericResultSchema])

/** PagedApiResponse<T>. */
export function pagedSchema<Item extends TSchema>(item: Item) {
  return Type.Object({
    total: Type.Number(),
    list: Type.Array(item),
    next: Type.Optional(
      Type.Integer({
        description:
          'Start of the next page: its from, its after where this page had after alone, else its before. Only present when the limit of 8 MiB, or of time for a search, cut the page short.',
      }),
    ),
  })
}
export interface Paged<T> {
  readonly total: number
  readonly list: readonly T[]
  /**
   * Where the next page starts: the `from` for content; for records the `after` of a page that had `after` alone, else the `before`. Only present when the limit of size, or of time for a search, cut the page short.
   */
  readonly next?: number
}

/** Body of 201 for a log or value record, as text: it is always the same. */
export const acceptedBody = JSON.stringify({ result: true, validationErrors: [], errors: [] } satisfies GenericResult)
