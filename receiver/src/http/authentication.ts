import type { onRequestHookHandler } from 'fastify'
import type { Access } from './access.js'
import { refuse } from './envelope.js'

/**
 * Both schemes of the API, on every operation: `x-api-key: KEY` or `Authorization: Bearer KEY`. Some routes take a session of the page
 * instead. It runs for every record and therefore makes no promise.
 */
export function authentication(access: Access): onRequestHookHandler {
  return (request, reply, done) => {
    const refusal = access.keyRefusal(request)
    if (refusal === undefined) return done()
    // fastify makes the options anew for each look at them.
    const wanted = request.routeOptions.config?.access ?? 'key'
    if (wanted === 'own') return done()
    const left = wanted === 'page' ? access.refusal(request) : refusal
    if (left === undefined) done()
    else refuse(reply, left)
  }
}
