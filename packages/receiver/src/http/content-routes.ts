import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkFields } from '../content/field-check.js'
import { contentTypeSchema } from '../schemas/content-types.js'
import { type MigratedEntryBody, migratedEntrySchema, newEntrySchema } from '../schemas/entries.js'
import { pagedSchema, success, successSchema } from '../schemas/envelopes.js'
import { type Paging, pageOf, pagingSchema } from '../schemas/paging.js'
import type { TypeReference } from '../storage/content-storage.js'
import type { Storage } from '../storage/storage.js'
import { bodyAnswers, ofApi, refusals } from './answers.js'
import { invalid, refuse } from './envelope.js'
import { guard } from './guards.js'
import { idempotencyHeader, idempotencyKey } from './idempotency.js'
import { validationErrorsOf } from './validation-errors.js'

interface EntryRoute {
  readonly Params: { projectId: string; typeKey: string }
  /** The body as it was sent. The routes read it before it is validated. */
  readonly Body: Partial<MigratedEntryBody> | null
}

/** The API's four operations on content. */
export function contentRoutes(app: FastifyInstance, { content, projects }: Storage): void {
  const onRequest = guard(projects, { needsPlan: true })

  app.get<{ Params: { projectId: string }; Querystring: Paging }>('/ng-cms/content-types/:projectId', {
    schema: {
      querystring: pagingSchema,
      ...ofApi('List content types', { 200: pagedSchema(contentTypeSchema), ...refusals(404, 412) }),
    },
    config: { access: 'page', scope: 'content' },
    onRequest,
    handler: ({ params, query }) => content.listTypes({ ...params, ...pageOf(query) }),
  })

  app.delete<{ Params: { projectId: string; key: string } }>('/ng-cms/content-types/:projectId/:key', {
    schema: ofApi('Delete a content type', { 200: successSchema(Type.String()), ...refusals(404, 412, 507) }),
    config: { access: 'page', scope: 'content' },
    onRequest,
    handler: async ({ params }, reply) => {
      const id = await content.archiveType(params)
      if (id !== undefined) return success(id)
      return refuse(reply, { status: 404, message: `there is no content type ${params.key}` })
    },
  })

  app.post<EntryRoute>('/ng-cms/content/:projectId/:typeKey', {
    schema: {
      body: newEntrySchema,
      ...ofApi('Create a content entry', { 201: successSchema(Type.String()), ...bodyAnswers, ...refusals(404, 412) }),
    },
    attachValidation: true,
    config: { scope: 'content' },
    onRequest,
    handler: (request, reply) => {
      const { projectId, typeKey } = request.params
      return addEntry(request, { reply, operation: 'create', reference: { projectId, key: typeKey, byId: false } })
    },
  })

  app.post<EntryRoute>('/ng-cms/content/:projectId/:typeKey/migrate', {
    schema: {
      body: migratedEntrySchema,
      ...ofApi('Migrate a content entry', { 201: successSchema(Type.String()), ...bodyAnswers, ...refusals(404) }),
    },
    attachValidation: true,
    config: { scope: 'content' },
    onRequest: guard(projects),
    handler: (request, reply) => {
      const { projectId, typeKey } = request.params
      const override = request.body?.contentTypeKey
      const key = typeof override === 'string' ? override : typeKey
      return addEntry(request, { reply, operation: 'migrate', reference: { projectId, key } })
    },
  })

  async function addEntry(
    request: FastifyRequest<EntryRoute>,
    { reply, operation, reference }: { reply: FastifyReply; operation: string; reference: TypeReference },
  ): Promise<FastifyReply> {
    const key = idempotencyKey(request)
    let id: string | undefined
    // The loop repeats only if the type changes between `findType` and `addEntry`.
    while (id === undefined) {
      const type = await content.findType(reference)
      if (type === undefined) {
        return refuse(reply, {
          status: 404,
          message: `project ${reference.projectId} has no content type ${reference.key}`,
        })
      }
      // The scope has the type's id, not its key: a later type may have the same key.
      const attempt = key === undefined ? undefined : { scope: `${operation} ${type.id}`, key }
      id = attempt && (await content.findAttempt(attempt))
      if (id !== undefined) break
      const { fields, createdAt, updatedAt, publishedAt } = request.body ?? {}
      const errors = [
        ...validationErrorsOf(request),
        ...(isObject(fields) ? await checkFields(fields, type.schema) : []),
      ]
      if (errors.length > 0 || fields === undefined) return reply.code(400).send(invalid(request, errors))
      const state = publishedAt === undefined ? 'Draft' : 'Published'
      id = await content.addEntry({ type, attempt, state, fields, createdAt, updatedAt, publishedAt })
    }
    if (key !== undefined) reply.header(idempotencyHeader, key)
    return reply.code(201).send(success(id))
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
