import { type Static, Type } from '@sinclair/typebox'
import { recordFilterSchema } from './record-queries.js'

const counts = Type.Record(Type.String(), Type.Integer(), { description: 'Number of records by value' })

/** The values of the newest matching logs, with their counts: at most 100 values of a field, the most frequent. */
export const facetsSchema = Type.Object({
  levels: counts,
  apps: counts,
  machines: counts,
  envs: counts,
  versions: counts,
  eventIds: counts,
})
export type Facets = Static<typeof facetsSchema>

/** Query of the facets: a bucket, and the filters of reading. */
export const facetQuerySchema = Type.Object(
  { bucket: Type.String(), ...recordFilterSchema },
  { additionalProperties: false, title: 'query' },
)
export type FacetQueryString = Static<typeof facetQuerySchema>
