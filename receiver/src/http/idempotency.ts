import type { FastifyRequest } from 'fastify'

/** The answer's header, too: whoever reads it knows that a further attempt does nothing. */
export const idempotencyHeader = 'idempotency-key'

/** The sender's name for what it sends, the same in each attempt. */
export function idempotencyKey({ headers }: FastifyRequest): string | undefined {
  const written = headers[idempotencyHeader]
  return typeof written === 'string' && written !== '' ? written : undefined
}
