import type { FastifyInstance, FastifyRequest } from 'fastify'
import { checkType } from '../content/type-check.js'
import {
  type ContentTypeChangeBody,
  contentTypeChangeSchema,
  contentTypeSchema,
  type NewContentTypeBody,
  newContentTypeSchema,
} from '../schemas/content-types.js'
import { type Entry, entrySchema } from '../schemas/entries.js'
import { pagedSchema, type ValidationError } from '../schemas/envelopes.js'
import { type Paging, pageOf, pagingSchema } from '../schemas/paging.js'
import type { NewContentType } from '../storage/content-storage.js'
import type { Storage } from '../storage/storage.js'
import { bodyAnswers, ours, refusals } from './answers.js'
import { invalid, refuse } from './envelope.js'
import { guard } from './guards.js'
import { validationErrorsOf } from './validation-errors.js'

interface TypeParams {
  readonly projectId: string
  readonly typeKey: string
}

interface TypeChange {
  /** The path has no key when the type is new. */
  readonly Params: { readonly projectId: string; readonly key?: string }
  readonly Body: ContentTypeChangeBody
}

/** Routes beyond the API: make and change content types, and read entries. */
export function contentManagementRoutes(app: FastifyInstance, { content, projects }: Storage): void {
  const onRequest = guard(projects)
  const types = '/projects/:projectId/content-types'
  const entries = '/projects/:projectId/content/:typeKey'

  app.post<{ Params: { projectId: string }; Body: NewContentTypeBody }>(types, {
    schema: {
      body: newContentTypeSchema,
      ...ours('Make a content type', { 201: contentTypeSchema, ...bodyAnswers, ...refusals(404, 409) }),
    },
    attachValidation: true,
    config: { scope: 'content' },
    onRequest,
    handler: async (request, reply) => {
      const failures = failuresOf(request)
      if (failures.length > 0) return reply.code(400).send(invalid(request, failures))
      const { key } = request.body
      const type = await content.addType(complete(request.body, { ...request.params, key }))
      if (type !== undefined) return reply.code(201).send(type)
      return refuse(reply, { status: 409, message: `there is a content type ${key} already` })
    },
  })

  app.put<TypeChange & { Params: { key: string } }>(`${types}/:key`, {
    schema: {
      body: contentTypeChangeSchema,
      ...ours('Change a content type; schemaVersion counts up', {
        200: contentTypeSchema,
        ...bodyAnswers,
        ...refusals(404),
      }),
    },
    attachValidation: true,
    config: { scope: 'content' },
    onRequest,
    handler: async (request, reply) => {
      const failures = failuresOf(request)
      if (failures.length > 0) return reply.code(400).send(invalid(request, failures))
      const type = await content.changeType(complete(request.body, request.params))
      return type ?? refuse(reply, { status: 404, message: `there is no content type ${request.params.key}` })
    },
  })

  app.get<{ Params: TypeParams; Querystring: Paging }>(entries, {
    schema: {
      querystring: pagingSchema,
      ...ours('List the entries of a content type, newest first', { 200: pagedSchema(entrySchema), ...refusals(404) }),
    },
    onRequest,
    handler: async ({ params: { projectId, typeKey }, query }, reply) => {
      const type = await content.findType({ projectId, key: typeKey })
      if (type !== undefined) return content.listEntries({ type, ...pageOf(query) })
      return refuse(reply, { status: 404, message: `there is no content type ${typeKey}` })
    },
  })

  app.get<{ Params: TypeParams & { readonly entryId: string } }>(`${entries}/:entryId`, {
    schema: ours('Show an entry', { 200: entrySchema, ...refusals(404) }),
    onRequest,
    handler: async ({ params: { projectId, typeKey, entryId } }, reply) => {
      const type = await content.findType({ projectId, key: typeKey })
      const entry: Entry | undefined = type && (await content.findEntry({ type, id: entryId }))
      return entry ?? refuse(reply, { status: 404, message: `there is no entry ${entryId} of content type ${typeKey}` })
    },
  })
}

/** Checks the keys only after the body has passed its schema. */
function failuresOf(request: FastifyRequest<TypeChange>): ValidationError[] {
  const failures = validationErrorsOf(request)
  return failures.length > 0 ? failures : checkType(request.body, request.params.key)
}

function complete(
  body: ContentTypeChangeBody,
  names: { readonly projectId: string; readonly key: string },
): NewContentType {
  const { name, description = '', displayField = body.schema[0]?.key ?? '', schema } = body
  return { ...names, name, description, displayField, schema }
}
