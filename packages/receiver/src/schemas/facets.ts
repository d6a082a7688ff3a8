import { type Static, Type } from '@sinclair/typebox'

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
