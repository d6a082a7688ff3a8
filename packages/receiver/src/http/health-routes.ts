import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { version } from '../version.js'
import { ours, refusals } from './answers.js'
import { refuse } from './envelope.js'
import type { Readiness } from './readiness.js'

/** Tells that a receiver answers, and no other program. */
export const healthName = 'sluice-receiver'

/** Routes beyond the API for supervisors and load balancers. They need no key. */
export function healthRoutes(app: FastifyInstance, readiness: Readiness): void {
  app.get('/health', {
    schema: ours('Health: the process answers', {
      200: Type.Object({ status: Type.Literal('ok'), name: Type.Literal(healthName), version: Type.String() }),
    }),
    config: { access: 'own' },
    handler: async () => ({ status: 'ok', name: healthName, version }),
  })

  app.get('/ready', {
    schema: ours('Readiness: the store takes a write', {
      200: Type.Object({ status: Type.Literal('ready') }),
      ...refusals(503),
    }),
    config: { access: 'own' },
    handler: async (_request, reply) => {
      const refusal = await readiness.refusal()
      if (refusal === undefined) return { status: 'ready' }
      return refuse(reply, { status: 503, message: `the store cannot be used: ${refusal}` })
    },
  })
}
