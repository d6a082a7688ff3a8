import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProjectStorage } from '../storage/storage.js'
import { refuse } from './envelope.js'

/**
 * What is asked before a body is read: an unknown project is 404, and one whose plan does not allow content 412 where the
 * operation is one that a plan can refuse, whatever was sent.
 */
export function guard(projects: ProjectStorage, { needsPlan = false }: { readonly needsPlan?: boolean } = {}) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const { projectId, bucketId } = request.params as { projectId?: string; bucketId?: string }
    const id = projectId ?? bucketId ?? ''
    const project = await projects.find(id)
    if (project === undefined) {
      const message = `there is no ${projectId === undefined ? 'bucket' : 'project'} ${id}`
      return refuse(reply, { status: 404, message })
    }
    if (needsPlan && !project.plan.content) {
      const message = `the plan of project ${id} does not allow content operations, or payment is required`
      return refuse(reply, { status: 412, message })
    }
    return undefined
  }
}
