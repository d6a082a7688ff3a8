import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { RateLimit } from '../keys/rate-limit.js'
import { acceptedBody } from '../schemas/envelopes.js'
import { logRecordSchema, valueRecordSchema } from '../schemas/records.js'
import type { NewRecord, RecordKind } from '../storage/record-storage.js'
import type { Storage } from '../storage/storage.js'
import { version } from '../version.js'
import { genericAnswers, ours, refusals } from './answers.js'
import { guard } from './guards.js'
import { idempotencyHeader, idempotencyKey } from './idempotency.js'
import { limited } from './rate-limits.js'

interface BucketParams {
  readonly bucketId: string
}

/** The API's two operations that take records. They answer after the commit. */
export function recordRoutes(
  app: FastifyInstance,
  { storage: { records, projects }, limit }: { readonly storage: Storage; readonly limit: RateLimit | undefined },
): void {
  route('/logs/:bucketId', { kind: 'logs', body: logRecordSchema, summary: 'Create a log' })
  route('/value_tracking/:bucketId', { kind: 'values', body: valueRecordSchema, summary: 'Create a value tracking' })

  function route(url: string, { kind, body, summary }: { kind: RecordKind; body: TSchema; summary: string }): void {
    app.post<{ Params: BucketParams; Body: NewRecord['record'] }>(url, {
      schema: { body, response: genericAnswers(), summary, tags: ['API'] },
      config: { envelope: 'generic', scope: 'ingest' },
      onRequest: [guard(projects), limited(limit)],
      handler: async (request, reply) => {
        const key = idempotencyKey(request)
        await records.append({ kind, bucket: request.params.bucketId, idempotencyKey: key, record: request.body })
        if (key !== undefined) reply.header(idempotencyHeader, key)
        return reply.code(201).header('content-type', 'application/json; charset=utf-8').send(acceptedBody)
      },
    })
  }
}

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
      ...ours('Store a test log and a test value', { 201: testRecordsSchema, ...refusals(404, 429, 507) }),
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
