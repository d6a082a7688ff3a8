import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Storage } from '../storage/storage.js'
import { apiAnswers } from './answers.js'
import { guard } from './guards.js'

const querySchema = Type.Object({ bucket: Type.String() }, { additionalProperties: false, title: 'query' })
const accountSchema = Type.Object({
  repeated: Type.Object(
    { logs: Type.Integer(), values: Type.Integer() },
    { description: 'Records that came again with a known idempotency-key since the start, and were stored once' },
  ),
})

/** Route beyond the API: counts of a bucket since the start that no record shows. */
export function accountRoutes(app: FastifyInstance, { records, projects }: Storage): void {
  app.get<{ Querystring: { readonly bucket: string } }>('/account', {
    schema: {
      querystring: querySchema,
      response: apiAnswers({ 200: accountSchema }, [404]),
      summary: 'Count the repeated attempts of a bucket',
      tags: ['Ours'],
    },
    preHandler: guard(projects),
    handler: async ({ query: { bucket } }, reply) => {
      reply.header('cache-control', 'no-store')
      return { repeated: records.repeated(bucket) }
    },
  })
}
