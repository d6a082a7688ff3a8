import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Keys } from '../keys.js'
import { refuse } from './envelope.js'

/** Both schemes of the API, on every operation: `x-api-key: KEY` or `Authorization: Bearer KEY`. */
export function authentication(keys: Keys) {
  return async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const key = credentials(headers)
    if (key === undefined) {
      const message = 'credentials are missing: send x-api-key, or a valid bearer token as Authorization'
      return refuse(reply, { status: 401, message })
    }
    if (!keys.accepts(key)) return refuse(reply, { status: 401, message: 'the API key or bearer token is not valid' })
    return undefined
  }
}

function credentials(headers: FastifyRequest['headers']): string | undefined {
  const key = headers['x-api-key']
  if (typeof key === 'string' && key !== '') return key
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
}
