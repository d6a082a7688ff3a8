import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import type { AccessRefusal } from './access.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The parameter of the path or of the query that names the project of a request; `findProjects` sets it. */
    readonly project?: (typeof places)[number] | undefined
    /** Whether credentials that are bound to projects may use a route that names none: it must show only what is theirs. @default 'closed' */
    readonly bound?: 'open' | 'closed'
  }
  interface FastifyRequest {
    /** The projects for which the credentials hold; null for all. A list shows no others. */
    boundTo: ReadonlySet<string> | null
  }
}

/** The first of these that a route has names its project, and its bucket. */
const places = ['projectId', 'bucketId', 'bucket'] as const

/** Finds where each route that is registered later names its project. */
export function findProjects(app: FastifyInstance): void {
  app.decorateRequest('boundTo', null)
  app.addHook('onRoute', (route) => {
    const inQuery = (route.schema?.querystring as { properties?: object } | undefined)?.properties ?? {}
    const project = places.find((place) => route.url.split('/').includes(`:${place}`) || place in inQuery)
    route.config = { ...route.config, project }
  })
}

/** The project that a request names, as its route defines it. */
export function projectOf(
  { params, query }: FastifyRequest,
  { project: place }: FastifyContextConfig,
): string | undefined {
  if (place === undefined) return undefined
  return ((place === 'bucket' ? query : params) as Readonly<Record<string, string | undefined>>)[place]
}

/**
 * The reason to refuse a request to credentials that are bound to projects, if there is one. It comes before anybody looks whether the project
 * exists. A route that names no project, and does not say that it shows only what is theirs, is closed to them.
 */
export function boundsRefusal(request: FastifyRequest, config: FastifyContextConfig): AccessRefusal | undefined {
  const { boundTo } = request
  if (boundTo === null || (config.bound === 'open' && config.project === undefined)) return undefined
  const id = projectOf(request, config)
  if (id !== undefined && boundTo.has(id)) return undefined
  return outside(boundTo, id === undefined ? 'a request that names no project' : `project ${id}`)
}

/** The refusal of something that does not belong to the projects of a key. */
export function outside(projects: ReadonlySet<string>, other: string): AccessRefusal {
  return { status: 403, message: `the API key does not hold for ${other}; it holds for ${[...projects].join(', ')}` }
}
