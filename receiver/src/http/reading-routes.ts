import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Paged } from '../schemas/envelopes.js'
import type { RecordKind, Storage, StoredRecord } from '../storage/storage.js'
import { refuse } from './failures.js'

const wholeNumber = Type.String({ pattern: '^\\d{1,15}$' })

const querySchema = Type.Object(
  {
    limit: Type.Optional(wholeNumber),
    level: Type.Optional(Type.String()),
    eventId: Type.Optional(Type.String({ pattern: '^-?\\d{1,15}(\\.\\d{1,15})?$' })),
    before: Type.Optional(wholeNumber),
  },
  { additionalProperties: false },
)

const defaultLimit = 100
const maxLimit = 1000

/** Ours, not the API's: reading back what a bucket holds, newest first. */
export function readingRoutes(app: FastifyInstance, storage: Storage): void {
  route('/api/logs/:bucketId', 'logs')
  route('/api/values/:bucketId', 'values')

  function route(url: string, kind: RecordKind): void {
    app.get<{ Params: { bucketId: string }; Querystring: Static<typeof querySchema> }>(url, {
      schema: { querystring: querySchema },
      handler: async ({ params: { bucketId }, query }, reply) => {
        if (!storage.hasProject(bucketId)) return refuse(reply, 404, `there is no bucket ${bucketId}`)
        const page: Paged<StoredRecord> = storage.read({
          kind,
          bucket: bucketId,
          limit: Math.min(numberOf(query.limit) ?? defaultLimit, maxLimit),
          level: query.level,
          eventId: numberOf(query.eventId),
          before: numberOf(query.before),
        })
        return page
      },
    })
  }
}

function numberOf(written: string | undefined): number | undefined {
  return written === undefined ? undefined : Number(written)
}
