import { randomUUID } from 'node:crypto'
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import type { Keys } from '../keys.js'
import type { Storage } from '../storage/storage.js'
import { authentication } from './authentication.js'
import { answerClientError } from './client-errors.js'
import type { Connections } from './connections.js'
import { contentManagementRoutes } from './content-management-routes.js'
import { contentTypeRoutes } from './content-type-routes.js'
import { entryRoutes } from './entry-routes.js'
import { refuse } from './envelope.js'
import { answerFailure } from './failures.js'
import { healthRoutes } from './health-routes.js'
import { readJsonBodies } from './json-body.js'
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
  readonly connections: Connections
}

/** The receiver's HTTP side over a storage. Every route wants a key. */
export function buildApp({ storage, keys, tls, requestTimeoutMs, connections }: AppOptions): FastifyInstance {
  const authenticate = authentication(keys)
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
    // Whatever stands in a path is looked for: none is too long to be looked for in vain.
    routerOptions: { maxParamLength: maxHeadBytes },
    return503OnClosing: false,
    // Of a path that cannot be decoded: no hook runs for it.
    frameworkErrors: (error, request, reply) => {
      reply.header(correlationHeader, request.id)
      authenticate.call(app, request, reply, () => void answerFailure(error, request, reply))
    },
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
  const app: FastifyInstance = fastify({ ...options, ...server } as FastifyServerOptions)
  app.server.on(tls === undefined ? 'connection' : 'secureConnection', (socket) => connections.add(socket))
  readJsonBodies(app)
  // The API's only operation with this method has no body, and many clients declare one nevertheless.
  app.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })
  app.setErrorHandler(answerFailure)
  app.setNotFoundHandler(refuseUnknown)
  // Schemas of answers describe; what is sent is sent as it is.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer))
  app.addHook('onRequest', (request, reply, done) => {
    reply.header(correlationHeader, request.id)
    if (connections.takes(reply.raw)) done()
    else refuse(reply, { status: 503, message: 'the receiver is about to end' })
  })
  app.addHook('onRequest', authenticate)
  // Before its body is looked at: whatever it is, there is nobody for it.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) refuseUnknown(request, reply)
    else done()
  })
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

function refuseUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return refuse(reply, { status: 404, message: `there is no ${request.method} ${request.url}` })
}

const correlationHeader = 'x-correlation-id'
/** What Node takes as the head of a request, the path included. */
const maxHeadBytes = 16_384
/** Far more than a log line that a person reads; answered with 413. */
const maxBodyBytes = 1_048_576
