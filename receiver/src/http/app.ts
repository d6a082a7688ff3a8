import { randomUUID } from 'node:crypto'
import fastify, { type FastifyInstance } from 'fastify'
import type { Keys } from '../keys.js'
import type { Storage } from '../storage/storage.js'
import { authentication } from './authentication.js'
import { contentManagementRoutes } from './content-management-routes.js'
import { contentTypeRoutes } from './content-type-routes.js'
import { entryRoutes } from './entry-routes.js'
import { refuse } from './envelope.js'
import { answerFailure } from './failures.js'
import { healthRoutes } from './health-routes.js'
import { describeRoutes, openapiRoutes } from './openapi.js'
import { projectRoutes } from './project-routes.js'
import { readQueryNumbers } from './query-numbers.js'
import { readingRoutes } from './reading-routes.js'
import { recordRoutes } from './record-routes.js'

/** The receiver's HTTP side over a storage. Every route wants a key. */
export function buildApp({ storage, keys }: { storage: Storage; keys: Keys }): FastifyInstance {
  const authenticate = authentication(keys)
  const app = fastify({
    genReqId: () => randomUUID(),
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    frameworkErrors: (error, request, reply) =>
      void answerFailure(error, request, reply.header(correlationHeader, request.id)),
    // 400 must name each bad field and what was sent, so that nothing is converted, removed or left unsaid.
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        allErrors: true,
        verbose: true,
        useDefaults: false,
      },
    },
  })
  app.removeContentTypeParser('text/plain')
  app.setErrorHandler(answerFailure)
  app.setNotFoundHandler((request, reply) =>
    refuse(reply, { status: 404, message: `there is no ${request.method} ${request.url}` }),
  )
  // Schemas of answers describe; what is sent is sent as it is.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer))
  app.addHook('onRequest', async (request, reply) => {
    reply.header(correlationHeader, request.id)
    return authenticate(request, reply)
  })
  app.addHook('preValidation', readQueryNumbers)
  describeRoutes(app)
  for (const prefix of ['', '/v1']) {
    app.register(
      async (scope) => {
        recordRoutes(scope, storage)
        contentTypeRoutes(scope, storage)
        entryRoutes(scope, storage)
      },
      { prefix },
    )
  }
  app.register(
    async (scope) => {
      projectRoutes(scope, storage)
      contentManagementRoutes(scope, storage)
      readingRoutes(scope, storage)
      healthRoutes(scope, storage)
      openapiRoutes(scope)
    },
    { prefix: '/api' },
  )
  return app
}

const correlationHeader = 'x-correlation-id'
/** Far more than a log line that a person reads; answered with 413. */
const maxBodyBytes = 1_048_576
const requestTimeoutMs = 60_000
