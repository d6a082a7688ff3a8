import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Storage } from '../storage/storage.js'
import { apiAnswers } from './answers.js'
import { refuse } from './envelope.js'

/** Route beyond the API: the health of the store. */
export function healthRoutes(app: FastifyInstance, storage: Storage): void {
  app.get('/health', {
    schema: {
      response: apiAnswers({ 200: Type.Object({ status: Type.Literal('ok') }) }, [503]),
      summary: 'Health',
      tags: ['Ours'],
    },
    handler: async (_request, reply) => {
      try {
        await storage.check()
      } catch (error) {
        return refuse(reply, { status: 503, message: `the store cannot be used: ${(error as Error).message}` })
      }
      return { status: 'ok' }
    },
  })
}
