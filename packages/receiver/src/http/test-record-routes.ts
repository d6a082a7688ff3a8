import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { RateLimit } from '../keys/rate-limit.js'
import { logRecordSchema, valueRecordSchema } from '../schemas/records.js'
import type { Storage } from '../storage/storage.js'
import { version } from '../version.js'
import { apiAnswers } from './answers.js'
import { guard } from './guards.js'
import { limited } from './rate-limits.js'

const testRecordsSchema = Type.Object({ log: logRecordSchema, value: valueRecordSchema })
const querySchema = Type.Object(
  { bucket: Type.Optional(Type.String({ description: 'Default: the first project' })) },
  { additionalProperties: false, title: 'query' },
)

/** Route beyond the API: stores a log and a value of the receiver's own, to see whether records arrive. */
export function testRecordRoutes(
  app: FastifyInstance,
  {
    storage,
    limit,
    project,
  }: { readonly storage: Storage; readonly limit: RateLimit | undefined; readonly project: string },
): void {
  const { records, projects } = storage
  const guardBucket = guard(projects)
  app.post<{ Querystring: Static<typeof querySchema> }>('/test-record', {
    schema: {
      querystring: querySchema,
      response: apiAnswers({ 201: testRecordsSchema }, [404, 429, 507]),
      summary: 'Store a test log and a test value',
      tags: ['Ours'],
    },
    config: { access: 'page', scope: 'ingest' },
    onRequest: limited(limit, 2),
    preHandler: async (request, reply) => {
      request.query.bucket ??= project
      return guardBucket(request, reply)
    },
    handler: async ({ query: { bucket = project } }, reply) => {
      const own = { timeStamp: Date.now(), appName: 'sluice-receiver', appVersion: version }
      const log = { ...own, level: 'info', message: 'A test record from the receiver itself' }
      const value = { ...own, eventId: 1 }
      await Promise.all([
        records.append({ kind: 'logs', bucket, idempotencyKey: undefined, record: log }),
        records.append({ kind: 'values', bucket, idempotencyKey: undefined, record: value }),
      ])
      return reply.code(201).send({ log, value })
    },
  })
}
