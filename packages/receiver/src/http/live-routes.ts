import type { OutgoingHttpHeaders } from 'node:http'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { positionOf } from '../live/cursor.js'
import type { LiveFeed } from '../live/live-feed.js'
import type { Storage } from '../storage/storage.js'
import type { Access } from './access.js'
import { ours, refusals, textAnswer } from './answers.js'
import { refuse } from './envelope.js'
import { guard } from './guards.js'

const liveQuerySchema = Type.Object(
  {
    bucket: Type.String(),
    after: Type.Optional(Type.String({ description: 'The id of the last event, as Last-Event-ID' })),
  },
  { additionalProperties: false, title: 'query' },
)

/** Route beyond the API: the records of a bucket as they arrive, as server-sent events. */
export function liveRoutes(
  app: FastifyInstance,
  {
    storage,
    access,
    feed,
    startedAt,
  }: { readonly storage: Storage; readonly access: Access; readonly feed: LiveFeed; readonly startedAt: string },
): void {
  const { records, projects } = storage
  app.get<{ Querystring: Static<typeof liveQuerySchema> }>('/live', {
    schema: {
      querystring: liveQuerySchema,
      ...ours('Records as they arrive: events hello, logs, values and missed', {
        200: textAnswer('text/event-stream', 'Server-sent events, until either side ends the stream'),
        ...refusals(404, 503),
      }),
    },
    exposeHeadRoute: false,
    preHandler: guard(projects),
    handler: async (request, reply) => {
      const { bucket, after } = request.query
      const newest = await records.position({ bucket })
      if (!feed.hasRoom) return refuse(reply, { status: 503, message: 'there are too many live readers' })
      const known = positionOf(request.headers['last-event-id'] ?? after)
      const resumed =
        known !== undefined &&
        known.store === newest.store &&
        known.logs <= newest.logs &&
        known.values <= newest.values
      reply.hijack()
      const { raw: response } = reply
      // The client may have gone while the position was read.
      if (response.req.socket.destroyed) return
      response.writeHead(200, { ...(reply.getHeaders() as OutgoingHttpHeaders), ...streamHeaders })
      response.write('retry: 1000\n')
      response.once(
        'close',
        access.watch(request, () => response.end()),
      )
      feed.add({ response, bucket, position: resumed ? known : newest, hello: { resumed, startedAt } })
    },
  })
}

const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // The connection has no other use, and a stop need not wait for its next request.
  connection: 'close',
  'x-accel-buffering': 'no',
}
