import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { EventNames } from '../event-names.js'
import { utcTimeSchema } from '../schemas/time.js'
import type { Storage } from '../storage/storage.js'
import { version } from '../version.js'
import type { Access } from './access.js'
import { ours, refusals } from './answers.js'
import { refuse } from './envelope.js'

/** Facts about this start of the receiver. `url` is empty until the receiver listens. */
export interface ReceiverStart {
  readonly url: string
  /** The API key that this start has made, if it has made one. */
  readonly apiKey: string | null
  readonly project: string
  /** ISO 8601 UTC. */
  readonly startedAt: string
  /** From the catalogue of this start, if it has one. */
  readonly events?: EventNames | undefined
}

const sessionSchema = Type.Object({
  url: Type.String({ description: 'Base URL of the receiver, for SLUICE_URL' }),
  apiKey: Type.Union([Type.String(), Type.Null()], {
    description:
      'The key that this start has made, for sessions that a token has opened and for the scope admin; else null',
  }),
  bucket: Type.String({ description: 'The first project' }),
  projects: Type.Array(Type.String(), { description: 'Those of the key, oldest first' }),
  version: Type.String(),
  startedAt: utcTimeSchema,
  events: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'Names of events by number, from --events' }),
  ),
})

/** Routes beyond the API: facts that the page shows, and the end of its session. */
export function sessionRoutes(
  app: FastifyInstance,
  { storage, access, start }: { readonly storage: Storage; readonly access: Access; readonly start: ReceiverStart },
): void {
  app.get('/session', {
    schema: ours('This start of the receiver', { 200: sessionSchema }),
    config: { bound: 'open' },
    handler: async (request) => {
      const { boundTo, apiKey: sent } = request
      const { url, startedAt, events } = start
      const all = await storage.projects.list()
      const projects = boundTo === null ? all : all.filter((id) => boundTo.has(id))
      const bucket = boundTo === null ? start.project : projects[0]
      // A key that may do less must not learn of one that may do everything.
      const apiKey = boundTo === null && (sent === null || sent.scopes.includes('admin')) ? start.apiKey : null
      return { url, apiKey, bucket, projects, version, startedAt, events }
    },
  })

  app.delete('/session', {
    schema: ours('End the session of the page that the request has', {
      200: Type.Object({ ended: Type.Literal(true) }),
      ...refusals(404, 507),
    }),
    config: { access: 'page', scope: 'read', bound: 'open' },
    handler: async (request, reply) => {
      if (await access.endSession(request, reply)) return { ended: true }
      return refuse(reply, { status: 404, message: 'the request has no session of the page' })
    },
  })
}
