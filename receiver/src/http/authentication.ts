import type { onRequestHookHandler } from 'fastify'
import type { Access } from './access.js'
import { refuse } from './envelope.js'

/**
 * Both schemes of the API, on every operation: `x-api-key: KEY` or `Authorization: Bearer KEY`. Some routes take a session of the page
 * instead. It runs for every record and therefore makes no promise.
 */
export function authentication(access: Access): onRequestHookHandler {
  return (request, reply, done) => {
    const wanted = request.routeOptions.config?.access ?? 'key'
    const refusal = wanted === 'own' ? undefined : access.refusal(request, { page: wanted === 'page' })
    if (refusal === undefined) done()
    else refuse(reply, refusal)
  }
}
