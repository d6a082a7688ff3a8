import type { FastifyRequest } from 'fastify'

/** Header of requests and answers. In an answer it tells the sender that a repeated attempt has no further effect. */
export const idempotencyHeader = 'idempotency-key'

/** The key that the sender repeats in each attempt at one request. */
export function idempotencyKey({ headers }: FastifyRequest): string | undefined {
  const written = headers[idempotencyHeader]
  return typeof written === 'string' && written !== '' ? written : undefined
}
