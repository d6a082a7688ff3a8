import type { TSchema } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { RateLimit } from '../keys/rate-limit.js'
import { acceptedBody } from '../schemas/envelopes.js'
import { logRecordSchema, valueRecordSchema } from '../schemas/records.js'
import type { NewRecord, RecordKind } from '../storage/record-storage.js'
import type { Storage } from '../storage/storage.js'
import { genericAnswers } from './answers.js'
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
