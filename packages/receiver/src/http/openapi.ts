import swagger from '@fastify/swagger'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { version } from '../version.js'
import { ours } from './answers.js'

const idempotencySchema = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description: 'The same in every attempt at one request. For 24 hours a repeated attempt has no further effect.',
    }),
  ),
})

/** Collects the schemas of all routes that are registered later. They are the same schemas that validate. */
export function describeRoutes(app: FastifyInstance): void {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Content, Logging and Value-Tracking HTTP API',
        description: 'As sluice-receiver implements it. Every path of the API answers the same with the prefix /v1.',
        version,
      },
      tags: [
        { name: 'API', description: 'The operations of the API' },
        { name: 'Ours', description: 'Operations that only sluice-receiver has' },
      ],
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
          bearer: { type: 'http', scheme: 'bearer' },
        },
      },
      security: [{ apiKey: [] }, { bearer: [] }],
    },
    transform: ({ schema, url, route: { method } }) => ({
      schema: {
        ...schema,
        ...(method === 'POST' && schema?.tags?.includes('API') ? { headers: idempotencySchema } : {}),
        hide: schema?.hide === true || url.startsWith('/v1/'),
      },
      url,
    }),
  })
}

/** Route beyond the API: the OpenAPI description. */
export function openapiRoutes(app: FastifyInstance): void {
  app.get('/openapi.json', {
    schema: ours('This description', { 200: Type.Object({}, { additionalProperties: true }) }),
    config: { bound: 'open' },
    handler: async () => app.swagger(),
  })
}
