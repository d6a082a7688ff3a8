import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Keys } from '../keys.js'
import { refuse } from './envelope.js'

/**
 * Both schemes of the API, on every operation: `x-api-key: KEY` or `Authorization: Bearer KEY`. It runs for every record and therefore
 * makes no promise.
 */
export function authentication(keys: Keys): onRequestHookHandler {
  return (request, reply, done) => {
    const key = credentials(request.headers)
    if (key === undefined) {
      const message = 'credentials are missing: send x-api-key, or a valid bearer token as Authorization'
      refuse(reply, { status: 401, message })
    } else if (!keys.accepts(key)) {
      refuse(reply, { status: 401, message: 'the API key or bearer token is not valid' })
    } else {
      done()
    }
  }
}

function credentials(headers: FastifyRequest['headers']): string | undefined {
  const key = headers['x-api-key']
  if (typeof key === 'string' && key !== '') return key
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
}
