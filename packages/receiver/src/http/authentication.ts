import type { onRequestHookHandler } from 'fastify'
import { type Access, scopeRefusal } from './access.js'
import { boundsRefusal } from './bounds.js'
import { refuse } from './envelope.js'

/**
 * Both schemes of the API, on every operation: `x-api-key: KEY` or `Authorization: Bearer KEY`. Some routes take a session of the page
 * instead. A key that is bound to projects holds for these alone. It runs for every record and therefore makes no promise.
 */
export function authentication(access: Access): onRequestHookHandler {
  return (request, reply, done) => {
    const refusal = access.keyRefusal(request)
    const key = request.apiKey
    if (key?.allowsAll === true) return done()
    // fastify makes the options anew for each look at them.
    const config = request.routeOptions.config ?? {}
    const { access: wanted = 'key', scope = 'admin' } = config
    if (wanted === 'own') return done()
    // An unknown path needs no scope: its answer is 404.
    if (key !== null && request.is404) return done()
    const left = key !== null ? scopeRefusal(key, scope) : wanted === 'page' ? access.refusal(request, scope) : refusal
    // That of a session is the key that has opened it.
    request.boundTo = request.apiKey?.projects ?? null
    const reason = left ?? boundsRefusal(request, config)
    if (reason === undefined) done()
    else refuse(reply, reason)
  }
}
