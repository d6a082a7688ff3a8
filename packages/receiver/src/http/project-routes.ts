import type { Static } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { pagedSchema } from '../schemas/envelopes.js'
import { type Paging, pageOf, pagingSchema } from '../schemas/paging.js'
import { newProjectSchema, type Plan, planSchema, projectSchema } from '../schemas/projects.js'
import type { Storage } from '../storage/storage.js'
import { noneSuch } from '../unknown-project.js'
import { bodyAnswers, ours, refusals } from './answers.js'
import { refuse } from './envelope.js'

/** Routes beyond the API: projects and their plans. A project is also a bucket. */
export function projectRoutes(app: FastifyInstance, { projects }: Storage): void {
  app.get<{ Querystring: Paging }>('/projects', {
    schema: {
      querystring: pagingSchema,
      ...ours('List the projects, oldest first', { 200: pagedSchema(projectSchema) }),
    },
    config: { bound: 'open' },
    handler: async ({ query, boundTo }) => {
      const page = pageOf(query)
      if (boundTo === null) return projects.page(page)
      const ids = (await projects.list()).filter((id) => boundTo.has(id))
      const list = await Promise.all(ids.slice(page.offset, page.offset + page.limit).map((id) => projects.find(id)))
      return { total: ids.length, list }
    },
  })

  app.post<{ Body: Static<typeof newProjectSchema> }>('/projects', {
    schema: {
      body: newProjectSchema,
      ...ours('Make a project', { 201: projectSchema, ...bodyAnswers, ...refusals(409) }),
    },
    handler: async ({ body: { id } }, reply) => {
      const project = await projects.add(id)
      if (project !== undefined) return reply.code(201).send(project)
      return refuse(reply, { status: 409, message: `there is a project ${id} already` })
    },
  })

  app.put<{ Params: { projectId: string }; Body: Plan }>('/projects/:projectId/plan', {
    schema: {
      body: planSchema,
      ...ours('Change the plan of a project', { 200: projectSchema, ...bodyAnswers, ...refusals(404) }),
    },
    handler: async ({ params: { projectId }, body }, reply) => {
      const project = await projects.changePlan(projectId, body)
      if (project !== undefined) return project
      return refuse(reply, {
        status: 404,
        message: noneSuch('project', projectId, await projects.list()),
      })
    },
  })
}
