import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { pagedSchema } from '../schemas/envelopes.js'
import { filterOf, type RecordQueryString, recordQuerySchema } from '../schemas/record-queries.js'
import { storedRecordSchemas } from '../schemas/records.js'
import type { RecordKind, UnknownValue } from '../storage/record-storage.js'
import { isNewestPage } from '../storage/records/field-conditions.js'
import type { Storage } from '../storage/storage.js'
import { apiAnswers } from './answers.js'
import { guard } from './guards.js'
import type { Searches } from './searches.js'

const defaultLimit = 100
/** Longest part of a value in a hint. */
const maxShown = 200

/** Routes beyond the API: read the records of a bucket, newest first. */
export function readingRoutes(
  app: FastifyInstance,
  { storage: { records, projects }, searches }: { readonly storage: Storage; readonly searches: Searches },
): void {
  route('/logs/:bucketId', { kind: 'logs', summary: 'Read logs, newest first' })
  route('/values/:bucketId', { kind: 'values', summary: 'Read values, newest first' })

  function route(url: string, { kind, summary }: { kind: RecordKind; summary: string }): void {
    const page = Type.Composite([
      pagedSchema(storedRecordSchemas[kind]),
      Type.Object({
        totalIsAtLeast: Type.Optional(Type.Literal(true, { description: 'Counting has stopped: there are more' })),
        hint: Type.Optional(
          Type.String({ description: 'A value of a filter that no record has, and those that occur' }),
        ),
      }),
    ])
    app.get<{ Params: { bucketId: string }; Querystring: RecordQueryString }>(url, {
      schema: { querystring: recordQuerySchema, response: apiAnswers({ 200: page }, [404]), summary, tags: ['Ours'] },
      onRequest: guard(projects),
      handler: async (request, reply) => {
        const { limit = defaultLimit, before, after, ...filters } = request.query
        const bucket = request.params.bucketId
        const query = { ...filterOf({ kind, bucket }, filters), limit, before, after }
        if (isNewestPage(query)) return records.read(query)
        return searches.answer({ request, reply }, async (signal) => {
          const { unknown, ...found } = await records.read(query, signal)
          return unknown === undefined ? found : { ...found, hint: hintOf(bucket, unknown) }
        })
      },
    })
  }
}

function hintOf(bucket: string, { field, value, known }: UnknownValue): string {
  const hint = `no record of bucket ${bucket} has ${field} ${String(value).slice(0, maxShown)}`
  return known.length === 0 ? hint : `${hint}; known: ${known.join(', ')}`
}
