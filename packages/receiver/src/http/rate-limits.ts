import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { RateLimit } from '../keys/rate-limit.js'
import { refuse } from './envelope.js'

/** Refuses requests whose key sends more records than it may: 429, with the time to wait. */
export function limited(limit: RateLimit | undefined, records = 1): onRequestHookHandler {
  return (request, reply, done) => {
    const message = excess(limit, { request, reply, records })
    if (message === undefined) done()
    else refuse(reply, { status: 429, message })
  }
}

/** Takes the records from what the key may send. Where that is too little, returns the reason, and `reply` gets `Retry-After`. */
export function excess(
  limit: RateLimit | undefined,
  {
    request,
    reply,
    records,
  }: { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly records: number },
): string | undefined {
  // A session that a token has opened has no key.
  if (limit === undefined || request.apiKey === null) return undefined
  const waitS = limit.take(request.apiKey.id, records)
  if (waitS === 0) return undefined
  reply.header('retry-after', waitS)
  return `the API key ${request.apiKey.id} has sent more than ${limit.perSecond === 1 ? '1 record' : `${limit.perSecond} records`} in a second`
}
