import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { pagedSchema } from '../schemas/envelopes.js'
import { type RecordQueryString, recordQuerySchema, timeOf } from '../schemas/record-queries.js'
import { storedRecordSchemas } from '../schemas/records.js'
import type { RecordKind } from '../storage/record-storage.js'
import type { Storage } from '../storage/storage.js'
import { apiAnswers } from './answers.js'
import { guard } from './guards.js'

const defaultLimit = 100

/** Routes beyond the API: read the records of a bucket, newest first. */
export function readingRoutes(app: FastifyInstance, { records, projects }: Storage): void {
  route('/logs/:bucketId', { kind: 'logs', summary: 'Read logs, newest first' })
  route('/values/:bucketId', { kind: 'values', summary: 'Read values, newest first' })

  function route(url: string, { kind, summary }: { kind: RecordKind; summary: string }): void {
    const page = Type.Composite([
      pagedSchema(storedRecordSchemas[kind]),
      Type.Object({
        totalIsAtLeast: Type.Optional(Type.Literal(true, { description: 'Counting has stopped: there are more' })),
      }),
    ])
    app.get<{ Params: { bucketId: string }; Querystring: RecordQueryString }>(url, {
      schema: { querystring: recordQuerySchema, response: apiAnswers({ 200: page }, [404]), summary, tags: ['Ours'] },
      onRequest: guard(projects),
      handler: ({ params, query: { since, until, limit = defaultLimit, ...filters } }) =>
        records.read({ kind, bucket: params.bucketId, limit, ...filters, since: timeOf(since), until: timeOf(until) }),
    })
  }
}
