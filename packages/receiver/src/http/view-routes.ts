import type { Static } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { pagedSchema } from '../schemas/envelopes.js'
import { addressBodySchema, namedViewSchema, savedViewSchema } from '../schemas/views.js'
import { maxViews, type ViewStorage } from '../storage/storage.js'
import { apiAnswers, bodyAnswers } from './answers.js'
import { refuse } from './envelope.js'

const config = { access: 'page', scope: 'read' } as const
const tags = ['Ours']

/** Routes beyond the API: the saved views of the page, shared by all who may read. */
export function viewRoutes(app: FastifyInstance, views: ViewStorage): void {
  app.get('/views', {
    schema: {
      response: apiAnswers({ 200: pagedSchema(savedViewSchema) }),
      summary: 'List the saved views of the page, by name',
      tags,
    },
    handler: async (_request, reply) => {
      reply.header('cache-control', 'no-store')
      const list = (await views.list()).toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
      return { total: list.length, list }
    },
  })

  app.put<{ Params: Static<typeof namedViewSchema>; Body: Static<typeof addressBodySchema> }>('/views/:name', {
    schema: {
      params: namedViewSchema,
      body: addressBodySchema,
      response: apiAnswers({ 200: savedViewSchema, ...bodyAnswers }, [409]),
      summary: `Save a view of the page under a name. There are at most ${maxViews}`,
      tags,
    },
    config,
    handler: async ({ params: { name }, body: { hash } }, reply) => {
      if (await views.save({ name, hash })) return { name, hash }
      const message = `there are ${maxViews} saved views already: delete one first`
      return refuse(reply, { status: 409, message })
    },
  })

  app.delete<{ Params: Static<typeof namedViewSchema> }>('/views/:name', {
    schema: {
      params: namedViewSchema,
      response: apiAnswers({ 200: namedViewSchema }, [404, 507]),
      summary: 'Delete a saved view of the page',
      tags,
    },
    config,
    handler: async ({ params: { name } }, reply) => {
      if (await views.remove(name)) return { name }
      return refuse(reply, { status: 404, message: `there is no saved view ${name}` })
    },
  })
}
