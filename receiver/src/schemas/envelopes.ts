import { type Static, Type } from '@sinclair/typebox'

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

/** GenericResultResponse<bool>: the answer to a log or value record. */
export interface GenericResult {
  readonly result: boolean
  readonly validationErrors: readonly ValidationError[]
  readonly errors: readonly ErrorDetail[]
}

/** PagedApiResponse<T>. */
export interface Paged<T> {
  readonly total: number
  readonly list: readonly T[]
}

/** The answer to 401 and 404, whose bodies the API does not show. */
export interface Failure {
  readonly success: false
  readonly errors: readonly ErrorDetail[]
}

/** 201 of a log or value record, as bytes: it never differs. */
export const acceptedBody = JSON.stringify({ result: true, validationErrors: [], errors: [] } satisfies GenericResult)
