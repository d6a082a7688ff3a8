import type { FastifyInstance } from 'fastify'
import { facetsSchema } from '../schemas/facets.js'
import { type FacetQueryString, facetQuerySchema, filterOf } from '../schemas/record-queries.js'
import type { Storage } from '../storage/storage.js'
import { apiAnswers } from './answers.js'
import { guard } from './guards.js'
import type { Searches } from './searches.js'

/** Facets count the newest records only, so that their cost has a limit. */
const maxRecords = 10_000

/** Route beyond the API: the values of the fields that a person filters logs by, with counts. */
export function facetRoutes(
  app: FastifyInstance,
  { storage: { records, projects }, searches }: { readonly storage: Storage; readonly searches: Searches },
): void {
  app.get<{ Querystring: FacetQueryString }>('/facets/logs', {
    schema: {
      querystring: facetQuerySchema,
      response: apiAnswers({ 200: facetsSchema }, [404]),
      summary: 'Count the values in the newest matching logs',
      tags: ['Ours'],
    },
    preHandler: guard(projects),
    handler: (request, reply) => {
      const { bucket, ...filters } = request.query
      const query = { ...filterOf({ kind: 'logs', bucket }, filters), limit: maxRecords }
      return searches.answer({ request, reply }, (signal) => records.facets(query, signal))
    },
  })
}
