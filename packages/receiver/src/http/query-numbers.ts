import type { FastifyRequest } from 'fastify'

const jsonNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/**
 * Converts query values that the schema calls numbers and that are written as JSON numbers. Runs before validation. Nothing else is
 * converted: in a body, "1" is not 1.
 */
export async function readQueryNumbers({ query, routeOptions }: FastifyRequest): Promise<void> {
  const schema = routeOptions.schema?.querystring as { properties?: Record<string, { type?: string }> } | undefined
  const written = query as Record<string, unknown>
  for (const [name, { type }] of Object.entries(schema?.properties ?? {})) {
    const value = written[name]
    if (type !== 'number' && type !== 'integer') continue
    if (typeof value === 'string' && jsonNumber.test(value) && Number.isFinite(Number(value))) {
      written[name] = Number(value)
    }
  }
}
