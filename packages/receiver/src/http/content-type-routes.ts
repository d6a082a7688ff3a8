import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { contentTypeSchema } from '../schemas/content-types.js'
import { pagedSchema, success, successSchema } from '../schemas/envelopes.js'
import { type Paging, pageOf, pagingSchema } from '../schemas/paging.js'
import type { Storage } from '../storage/storage.js'
import { apiAnswers } from './answers.js'
import { refuse } from './envelope.js'
import { guard } from './guards.js'

/** The API's two operations on content types. */
export function contentTypeRoutes(app: FastifyInstance, { content, projects }: Storage): void {
  const onRequest = guard(projects, { needsPlan: true })

  app.get<{ Params: { projectId: string }; Querystring: Paging }>('/ng-cms/content-types/:projectId', {
    schema: {
      querystring: pagingSchema,
      response: apiAnswers({ 200: pagedSchema(contentTypeSchema) }, [404, 412]),
      summary: 'List content types',
      tags: ['API'],
    },
    config: { access: 'page', scope: 'content' },
    onRequest,
    handler: ({ params, query }) => content.listTypes({ ...params, ...pageOf(query) }),
  })

  app.delete<{ Params: { projectId: string; key: string } }>('/ng-cms/content-types/:projectId/:key', {
    schema: {
      response: apiAnswers({ 200: successSchema(Type.String()) }, [404, 412, 507]),
      summary: 'Delete a content type',
      tags: ['API'],
    },
    config: { access: 'page', scope: 'content' },
    onRequest,
    handler: async ({ params }, reply) => {
      const id = await content.archiveType(params)
      if (id !== undefined) return success(id)
      return refuse(reply, { status: 404, message: `there is no content type ${params.key}` })
    },
  })
}
