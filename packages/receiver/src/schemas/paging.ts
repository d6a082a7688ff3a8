import { type Static, Type } from '@sinclair/typebox'

/** Query of every paged list. The API's document does not show the largest `to`. */
export const pagingSchema = Type.Object(
  {
    from: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000,
        default: 1,
        description: 'Number of the first item, counted from 1',
      }),
    ),
    to: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, default: 20, description: 'Most items in the answer' }),
    ),
  },
  { additionalProperties: false, title: 'query' },
)
export type Paging = Static<typeof pagingSchema>

/** The query as offset and limit. `from` is a position, `to` is a count. */
export function pageOf({ from = 1, to = 20 }: Paging) {
  return { offset: from - 1, limit: to }
}
