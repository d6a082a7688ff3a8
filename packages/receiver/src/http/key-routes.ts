import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { type Keys, shownKey, unknownProject } from '../keys/keys.js'
import { defaultScopes } from '../keys/scopes.js'
import { pagedSchema } from '../schemas/envelopes.js'
import { listedKeySchema, madeKeySchema, type NewKeyBody, newKeySchema } from '../schemas/keys.js'
import type { ProjectStorage, StoredKey } from '../storage/storage.js'
import { noneSuch } from '../unknown-project.js'
import { bodyAnswers, ours, refusals } from './answers.js'
import { outside } from './bounds.js'
import { refuse } from './envelope.js'

const config = { access: 'key', scope: 'admin', bound: 'open' } as const

/**
 * Routes beyond the API: make, list and revoke API keys. A key that is bound to projects sees and makes only keys that are bound to some of
 * these.
 */
export function keyRoutes(
  app: FastifyInstance,
  { keys, projects: known }: { readonly keys: Keys; readonly projects: ProjectStorage },
): void {
  app.get('/keys', {
    schema: ours('List the API keys, oldest first', { 200: pagedSchema(listedKeySchema) }),
    config,
    handler: async ({ boundTo }) => {
      const list = (await keys.list()).filter((key) => isWithin(boundTo, key))
      return { total: list.length, list: list.map(shownKey) }
    },
  })

  app.post<{ Body: NewKeyBody }>('/keys', {
    schema: {
      body: newKeySchema,
      ...ours('Make an API key', { 201: madeKeySchema, ...bodyAnswers, ...refusals(404) }),
    },
    config,
    handler: async ({ boundTo, body: { name, scopes = defaultScopes, projects = null } }, reply) => {
      if (boundTo !== null && !isWithin(boundTo, { projects })) {
        const other = projects?.find((id) => !boundTo.has(id))
        return refuse(reply, outside(boundTo, other === undefined ? 'all projects' : `project ${other}`))
      }
      const unknown = await unknownProject(known, projects)
      if (unknown !== undefined) {
        const visible = (await known.list()).filter((id) => boundTo?.has(id) ?? true)
        const message = noneSuch('project', unknown, visible)
        return refuse(reply, { status: 404, message })
      }
      const { key, stored } = await keys.make({ name, scopes, projects })
      return reply.code(201).send({ ...shownKey(stored), key })
    },
  })

  app.delete<{ Params: { readonly id: string } }>('/keys/:id', {
    schema: ours('Revoke an API key', { 200: Type.Object({ id: Type.String() }), ...refusals(404, 507) }),
    config,
    handler: async ({ boundTo, params: { id } }, reply) => {
      const isShown = boundTo === null || (await keys.list()).some((key) => key.id === id && isWithin(boundTo, key))
      if (isShown && (await keys.revoke(id))) return { id }
      return refuse(reply, { status: 404, message: `there is no key ${id}` })
    },
  })
}

function isWithin(boundTo: ReadonlySet<string> | null, { projects }: Pick<StoredKey, 'projects'>): boolean {
  return boundTo === null || projects?.every((id) => boundTo.has(id)) === true
}
