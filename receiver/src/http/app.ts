import { randomUUID } from 'node:crypto'
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { Keys } from '../keys.js'
import type { Storage } from '../storage/storage.js'
import { authentication } from './authentication.js'
import { answerClientError } from './client-errors.js'
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

export interface AppOptions {
  readonly storage: Storage
  readonly keys: Keys
  /** Certificate chain and private key, in PEM; without them the receiver speaks plain HTTP. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined
  /** How long a request may take to arrive, in ms. */
  readonly requestTimeoutMs: number
}

/** The receiver's HTTP side over a storage. Every route wants a key. */
export function buildApp({ storage, keys, tls, requestTimeoutMs }: AppOptions): FastifyInstance {
  const timing = {
    // Node looks for late requests from time to time only: often enough for one to be found soon after.
    connectionsCheckingInterval: Math.max(100, Math.min(requestTimeoutMs / 4, 5000)),
    // Where the time for the head is the longer one, Node exchanges the two.
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
  }
  const options: FastifyServerOptions = {
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
    clientErrorHandler: answerClientError,
  }
  const server = tls === undefined ? { http: timing } : { https: { ...tls, ...timing } }
  const app = fastify({ ...options, ...server } as FastifyServerOptions)
  app.removeContentTypeParser('text/plain')
  app.setErrorHandler(answerFailure)
  app.setNotFoundHandler((request, reply) =>
    refuse(reply, { status: 404, message: `there is no ${request.method} ${request.url}` }),
  )
  // Schemas of answers describe; what is sent is sent as it is.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer))
  app.addHook('onRequest', (request, reply, done) => {
    reply.header(correlationHeader, request.id)
    done()
  })
  app.addHook('onRequest', authentication(keys))
  app.addHook('onRoute', (route) => {
    if (route.schema?.querystring !== undefined) route.preValidation = readQueryNumbers
  })
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
