import { randomUUID } from 'node:crypto'
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import type { Keys } from '../keys/keys.js'
import type { RateLimit } from '../keys/rate-limit.js'
import type { LiveFeed } from '../live/live-feed.js'
import type { Storage } from '../storage/storage.js'
import type { Access } from './access.js'
import type { AccessLog } from './access-log.js'
import { authentication } from './authentication.js'
import { findProjects } from './bounds.js'
import { answerClientError } from './client-errors.js'
import { contentManagementRoutes } from './content-management-routes.js'
import { contentRoutes } from './content-routes.js'
import { refuse } from './envelope.js'
import { errorRoutes } from './error-routes.js'
import { answerFailure } from './failures.js'
import { healthRoutes } from './health-routes.js'
import { readJsonBodies } from './json-body.js'
import { keyRoutes } from './key-routes.js'
import { sendLargeAnswers } from './large-answers.js'
import { liveRoutes } from './live-routes.js'
import { mcpRoutes } from './mcp-routes.js'
import { Metrics, metricsRoutes } from './metrics.js'
import { describeRoutes, openapiRoutes } from './openapi.js'
import { otlpRoutes } from './otlp-routes.js'
import { pageRoutes } from './page-routes.js'
import { projectRoutes } from './project-routes.js'
import { readQueryNumbers } from './query-numbers.js'
import { Readiness } from './readiness.js'
import { readingRoutes } from './reading-routes.js'
import { recordRoutes, testRecordRoutes } from './record-routes.js'
import { RejectedRequests } from './rejected-requests.js'
import { rejectedRoutes, rememberRejected } from './rejected-routes.js'
import { Searches } from './searches.js'
import { createServer, type ServerSettings } from './server.js'
import { type ReceiverStart, sessionRoutes } from './session-routes.js'
import { viewRoutes } from './view-routes.js'

export interface AppOptions extends ServerSettings {
  readonly storage: Storage
  readonly keys: Keys
  readonly access: Access
  /** Of the records of each key. */
  readonly limit?: RateLimit | undefined
  readonly accessLog?: AccessLog | undefined
  readonly feed: LiveFeed
  readonly start: ReceiverStart
  /** Folder of the built page. */
  readonly web: URL
}

/** The receiver's HTTP server over a storage. Every route needs a key with its scope, or a session of the page. */
export function buildApp({
  storage,
  keys,
  access,
  limit,
  accessLog,
  feed,
  start,
  web,
  tls,
  requestTimeoutMs,
  connections,
}: AppOptions): FastifyInstance {
  const authenticate = authentication(access)
  const rejected = new RejectedRequests()
  const readiness = new Readiness(storage)
  const searches = new Searches()
  const metrics = new Metrics({ storage, feed, readiness, rejected })
  // An answer whose end the client did not see counts, too. fastify's own hook leaves it out.
  const observe = (request: FastifyRequest, reply: FastifyReply) => {
    const sinceMs = accessLog === undefined ? 0 : performance.now()
    reply.raw.once('close', () => {
      metrics.answered(request, reply)
      accessLog?.answered(request, reply, performance.now() - sinceMs)
    })
  }
  const options: FastifyServerOptions = {
    genReqId: () => randomUUID(),
    bodyLimit: maxBodyBytes,
    // A long name in a path is looked up like any other and gets 404.
    routerOptions: { maxParamLength: maxHeadBytes },
    return503OnClosing: false,
    // A path that cannot be decoded reaches no hook, so this handler sets the header and checks the key.
    frameworkErrors: (error, request, reply) => {
      reply.header(correlationHeader, request.id)
      observe(request, reply)
      authenticate.call(app, request, reply, () => void answerFailure(error, request, reply))
    },
    // A 400 names each bad field and its value, so ajv must not convert or remove values, nor stop at the first error.
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        allErrors: true,
        verbose: true,
        useDefaults: false,
      },
    },
    // For a host name with several addresses fastify makes a server for each.
    serverFactory: (listener) => createServer(listener, { tls, requestTimeoutMs, connections }),
    clientErrorHandler: answerClientError,
  }
  const app: FastifyInstance = fastify(options)
  app.decorateRequest('apiKey', null)
  app.decorateRequest('pageSession', null)
  readJsonBodies(app)
  // The API's only DELETE has no body, but many clients declare one.
  app.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })
  app.setErrorHandler(answerFailure)
  app.setNotFoundHandler(refuseUnknown)
  // Answer schemas only describe. Answers are sent as they are.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer))
  app.addHook('onRequest', (request, reply, done) => {
    reply.header(correlationHeader, request.id)
    observe(request, reply)
    if (connections.takes(reply.raw)) done()
    else refuse(reply, { status: 503, message: 'the receiver is shutting down' })
  })
  app.addHook('onRequest', authenticate)
  // An unknown path gets 404 before its body is read.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) refuseUnknown(request, reply)
    else done()
  })
  app.addHook('onRoute', (route) => {
    if (route.schema?.querystring !== undefined) route.preValidation = readQueryNumbers
  })
  rememberRejected(app, rejected)
  sendLargeAnswers(app)
  describeRoutes(app)
  findProjects(app)
  app.register(pageRoutes, { access, web })
  app.register(async (scope) => metricsRoutes(scope, metrics))
  app.register(async (scope) => mcpRoutes(scope, access))
  app.register(otlpRoutes, { storage, limit })
  for (const prefix of ['', '/v1']) {
    app.register(
      async (scope) => {
        recordRoutes(scope, { storage, limit })
        contentRoutes(scope, storage)
      },
      { prefix },
    )
  }
  app.register(
    async (scope) => {
      scope.addHook('onRoute', (route) => {
        if (route.method === 'GET' || route.method === 'HEAD')
          route.config = { access: 'page', scope: 'read', ...route.config }
      })
      scope.addHook('onRequest', async (_request, reply) => {
        reply.header('cache-control', 'no-store')
      })
      projectRoutes(scope, storage)
      keyRoutes(scope, { keys, projects: storage.projects })
      contentManagementRoutes(scope, storage)
      readingRoutes(scope, { storage, searches })
      errorRoutes(scope, { storage, searches })
      healthRoutes(scope, readiness)
      openapiRoutes(scope)
      liveRoutes(scope, { storage, access, feed, startedAt: start.startedAt })
      rejectedRoutes(scope, rejected)
      sessionRoutes(scope, { storage, access, start })
      viewRoutes(scope, storage.views)
      testRecordRoutes(scope, { storage, limit, project: start.project })
    },
    { prefix: '/api' },
  )
  return app
}

function refuseUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return refuse(reply, { status: 404, message: `there is no ${request.method} ${request.url}` })
}

const correlationHeader = 'x-correlation-id'
/** Node's limit for the head of a request, the path included. */
const maxHeadBytes = 16_384
/** A larger body gets 413. Log lines are far smaller. */
const maxBodyBytes = 1_048_576
