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

/** ApiResponse<T>, success. */
export function successSchema<Result extends TSchema>(result: Result) {
  return Type.Object({ success: Type.Literal(true), result, errors: Type.Array(errorDetailSchema, { maxItems: 0 }) })
}

/** The answer of 200 and 201 of operations on content. */
export function success<Result>(result: Result) {
  return { success: true, result, errors: [] } as const
}

/** ApiResponse<T>, validation failure. */
export const invalidSchema = Type.Object({
  isValid: Type.Literal(false),
  validationErrors: Type.Array(validationErrorSchema),
})
export type Invalid = Static<typeof invalidSchema>

/** ApiResponse<T>, server failure; and the answer of 401, 404 and 412, whose bodies the API does not show. */
export const failureSchema = Type.Object({ success: Type.Literal(false), errors: Type.Array(errorDetailSchema) })
export type Failure = Static<typeof failureSchema>

/** GenericResultResponse<bool>: the answer to a log or value record. */
export const genericResultSchema = Type.Object({
  result: Type.Boolean(),
  validationErrors: Type.Array(validationErrorSchema),
  errors: Type.Array(errorDetailSchema),
})
export type GenericResult = Static<typeof genericResultSchema>

/** 500 of a log or value record: both of the API's descriptions of it hold. */
export const genericFailureSchema = Type.Intersect([failureSchema, genericResultSchema])

/** PagedApiResponse<T>. */
export function pagedSchema<Item extends TSchema>(item: Item) {
  return Type.Object({
    total: Type.Number(),
    list: Type.Array(item),
    next: Type.Optional(
      Type.Integer({
        description:
          'Only where the page would have had more than 8 MiB, and so has fewer items than asked for: the next page',
      }),
    ),
  })
}
export interface Paged<T> {
  readonly total: number
  readonly list: readonly T[]
  /**
   * Only where the page would have been too large, and so has fewer items than were asked for: the `from`, or of records the `before`, of
   * the next page.
   */
  readonly next?: number
}

/** 201 of a log or value record, as bytes: it never differs. */
export const acceptedBody = JSON.stringify({ result: true, validationErrors: [], errors: [] } satisfies GenericResult)
