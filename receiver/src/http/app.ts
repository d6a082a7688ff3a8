import { randomUUID } from 'node:crypto'
import fastify, { type FastifyInstance } from 'fastify'
import type { Keys } from '../keys.js'
import type { Storage } from '../storage/storage.js'
import { answerFailure, refuse } from './failures.js'
import { readingRoutes } from './reading-routes.js'
import { recordRoutes } from './record-routes.js'

/** The receiver's HTTP side over a storage. Every route wants a key. */
export function buildApp({ storage, keys }: { storage: Storage; keys: Keys }): FastifyInstance {
  const app = fastify({
    genReqId: () => randomUUID(),
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    // 400 must name each bad field and what was sent, so that nothing is converted, removed or left unsaid.
    frameworkErrors: (error, request, reply) =>
      void answerFailure(error, request, reply.header(correlationHeader, request.id)),
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
  app.setNotFoundHandler((request, reply) => refuse(reply, 404, `there is no ${request.method} ${request.url}`))
  app.addHook('onRequest', async (request, reply) => {
    reply.header(correlationHeader, request.id)
    const key = credentials(request.headers)
    if (key === undefined) return refuse(reply, 401, 'credentials are missing: send x-api-key')
    if (!keys.accepts(key)) return refuse(reply, 401, 'the key is not valid')
  })
  recordRoutes(app, storage)
  readingRoutes(app, storage)
  return app
}

const correlationHeader = 'x-correlation-id'
/** Far more than a log line that a person reads; answered with 413. */
const maxBodyBytes = 1_048_576
const requestTimeoutMs = 60_000

/** Both schemes of the API, on every route: `x-api-key: KEY` or `Authorization: Bearer KEY`. */
function credentials(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined {
  const key = headers['x-api-key']
  if (typeof key === 'string' && key !== '') return key
  return /^Bearer (.+)$/i.exec(String(headers.authorization ?? ''))?.[1]
}
