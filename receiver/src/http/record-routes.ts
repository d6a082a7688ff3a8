import type { TSchema } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { acceptedBody } from '../schemas/envelopes.js'
import { logRecordSchema, valueRecordSchema } from '../schemas/records.js'
import type { NewRecord, RecordKind, Storage } from '../storage/storage.js'
import { refuse } from './failures.js'

interface BucketParams {
  readonly bucketId: string
}

/** The API's two operations that take records. They answer after the commit. */
export function recordRoutes(app: FastifyInstance, storage: Storage): void {
  route('/logs/:bucketId', 'logs', logRecordSchema)
  route('/value_tracking/:bucketId', 'values', valueRecordSchema)

  function route(url: string, kind: RecordKind, body: TSchema): void {
    app.post<{ Params: BucketParams; Body: NewRecord['record'] }>(url, {
      schema: { body },
      // Before the body is read: an unknown bucket is 404, whatever was sent to it.
      onRequest: async ({ params: { bucketId } }, reply) => {
        if (!storage.hasProject(bucketId)) return refuse(reply, 404, `there is no bucket ${bucketId}`)
      },
      handler: async (request, reply) => {
        const written = request.headers['idempotency-key']
        const idempotencyKey = typeof written === 'string' && written !== '' ? written : undefined
        await storage.append({ kind, bucket: request.params.bucketId, idempotencyKey, record: request.body })
        if (idempotencyKey !== undefined) reply.header('idempotency-key', idempotencyKey)
        return reply.code(201).header('content-type', 'application/json; charset=utf-8').send(acceptedBody)
      },
    })
  }
}
