import type { onRequestHookHandler } from 'fastify'
import { type Access, scopeRefusal } from './access.js'
import { refuse } from './envelope.js'

/**
 * Both schemes of the API, on every operation: `x-api-key: KEY` or `Authorization: Bearer KEY`. Some routes take a session of the page
 * instead. It runs for every record and therefore makes no promise.
 */
export function authentication(access: Access): onRequestHookHandler {
  return (request, reply, done) => {
    const refusal = access.keyRefusal(request)
    const key = request.apiKey
    if (key?.allowsAll === true) return done()
    // fastify makes the options anew for each look at them.
    const { access: wanted = 'key', scope = 'admin' } = request.routeOptions.config ?? {}
    if (wanted === 'own') return done()
    // An unknown path needs no scope: its answer is 404.
    if (key !== null && request.is404) return done()
    const left = key !== null ? scopeRefusal(key, scope) : wanted === 'page' ? access.refusal(request, scope) : refusal
    if (left === undefined) done()
    else refuse(reply, left)
  }
}
