import type { Static } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { pagedSchema } from '../schemas/envelopes.js'
import { addressBodySchema, namedViewSchema, savedViewSchema } from '../schemas/views.js'
import { maxViews, type ViewStorage } from '../storage/storage.js'
import { bodyAnswers, ours, refusals } from './answers.js'
import { refuse } from './envelope.js'

const config = { access: 'page', scope: 'read' } as const

/** Routes beyond the API: the saved views of the page, shared by all who may read. */
export function viewRoutes(app: FastifyInstance, views: ViewStorage): void {
  app.get('/views', {
    schema: ours('List the saved views of the page, by name', { 200: pagedSchema(savedViewSchema) }),
    handler: async () => {
      const list = (await views.list()).toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
      return { total: list.length, list }
    },
  })

  app.put<{ Params: Static<typeof namedViewSchema>; Body: Static<typeof addressBodySchema> }>('/views/:name', {
    schema: {
      params: namedViewSchema,
      body: addressBodySchema,
      ...ours(`Save a view of the page under a name. There are at most ${maxViews}`, {
        200: savedViewSchema,
        ...bodyAnswers,
        ...refusals(409),
      }),
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
      ...ours('Delete a saved view of the page', { 200: namedViewSchema, ...refusals(404, 507) }),
    },
    config,
    handler: async ({ params: { name } }, reply) => {
      if (await views.remove(name)) return { name }
      return refuse(reply, { status: 404, message: `there is no saved view ${name}` })
    },
  })
}
