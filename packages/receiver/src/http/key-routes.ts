import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { type Keys, shownKey } from '../keys/keys.js'
import { defaultScopes } from '../keys/scopes.js'
import { pagedSchema } from '../schemas/envelopes.js'
import { listedKeySchema, madeKeySchema, type NewKeyBody, newKeySchema } from '../schemas/keys.js'
import { apiAnswers, bodyAnswers } from './answers.js'
import { refuse } from './envelope.js'

const config = { access: 'key', scope: 'admin' } as const

/** Routes beyond the API: make, list and revoke API keys. */
export function keyRoutes(app: FastifyInstance, keys: Keys): void {
  app.get('/keys', {
    schema: {
      response: apiAnswers({ 200: pagedSchema(listedKeySchema) }),
      summary: 'List the API keys, oldest first',
      tags: ['Ours'],
    },
    config,
    handler: async (_request, reply) => {
      reply.header('cache-control', 'no-store')
      const list = await keys.list()
      return { total: list.length, list: list.map(shownKey) }
    },
  })

  app.post<{ Body: NewKeyBody }>('/keys', {
    schema: {
      body: newKeySchema,
      response: apiAnswers({ 201: madeKeySchema, ...bodyAnswers }),
      summary: 'Make an API key',
      tags: ['Ours'],
    },
    config,
    handler: async ({ body: { name, scopes = defaultScopes } }, reply) => {
      const { key, stored } = await keys.make({ name, scopes })
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({ ...shownKey(stored), key })
    },
  })

  app.delete<{ Params: { readonly id: string } }>('/keys/:id', {
    schema: {
      response: apiAnswers({ 200: Type.Object({ id: Type.String() }) }, [404, 507]),
      summary: 'Revoke an API key',
      tags: ['Ours'],
    },
    config,
    handler: async ({ params: { id } }, reply) => {
      if (await keys.revoke(id)) return { id }
      return refuse(reply, { status: 404, message: `there is no key ${id}` })
    },
  })
}
