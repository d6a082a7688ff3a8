import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { apiAnswers } from './answers.js'
import type { Metrics } from './metrics.js'

/** Route beyond the API: metrics for Prometheus. */
export function metricsRoutes(app: FastifyInstance, metrics: Metrics): void {
  app.get('/metrics', {
    schema: {
      response: {
        ...apiAnswers({}),
        200: { description: 'Metrics for Prometheus', content: { 'text/plain': { schema: Type.String() } } },
      },
      summary: 'Metrics of this start, in the text format of Prometheus',
      tags: ['Ours'],
    },
    config: { scope: 'read' },
    handler: async (_request, reply) => {
      reply
        .header('cache-control', 'no-store')
        .type(metrics.contentType)
        .serializer((text: unknown) => String(text))
      return metrics.text()
    },
  })
}
