import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProjectStorage } from '../storage/storage.js'
import { noneSuch } from '../unknown-project.js'
import { refuse } from './envelope.js'

/**
 * Runs before the body is read: an unknown project gets 404. A route whose query names the bucket runs it after the query is checked. With `needsPlan`, a project whose plan does not allow content gets 412.
 */
export function guard(projects: ProjectStorage, { needsPlan = false }: { readonly needsPlan?: boolean } = {}) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const { projectId, bucketId } = request.params as { projectId?: string; bucketId?: string }
    const { bucket } = request.query as { bucket?: string }
    const id = projectId ?? bucketId ?? bucket ?? ''
    const project = await projects.find(id)
    if (project === undefined) {
      // A key that is bound to projects has been refused before, with their names.
      const message = noneSuch(projectId === undefined ? 'bucket' : 'project', id, await projects.list())
      return refuse(reply, { status: 404, message })
    }
    if (needsPlan && !project.plan.content) {
      const message = `the plan of project ${id} does not allow content operations, or payment is required`
      return refuse(reply, { status: 412, message })
    }
    return undefined
  }
}
