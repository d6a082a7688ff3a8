import type { IncomingMessage, ServerResponse } from 'node:http'
import { withContext } from '../context/context.js'
import { ownFields } from '../runtime/own-fields.js'
import { close } from '../tracking/sluice.js'
import { requestIdOf } from './request-id.js'
import { checkLogger, logAtEnd, type RequestLogger } from './request-line.js'

/** Options of {@link sluiceFastify}. */
export interface SluiceFastifyOptions {
  /** A logger of pino or winston: it gets one line for each request. @default `request.log` */
  readonly logger?: RequestLogger | undefined
}

/** The part of fastify's request that is read here. */
export interface FastifyRequest {
  readonly raw: IncomingMessage
  readonly log: RequestLogger
  readonly routeOptions: { readonly url?: string | undefined }
}

/** The part of fastify's reply that is read here. */
export interface FastifyReply {
  readonly raw: ServerResponse
}

/** The part of fastify that is used here. */
export interface FastifyServer {
  /** Adds a hook for the requests. */
  addHook(name: 'onRequest', hook: (request: FastifyRequest, reply: FastifyReply, done: () => void) => void): unknown
  /** Adds a hook for the end of the server. */
  addHook(name: 'onClose', hook: () => Promise<void>): unknown
}

/**
 * A plugin for fastify: all lines of a request get its `requestId`, and one line says how it ended, with `method`, `route` (its pattern)
 * or `path`, `status` and `durationMs`, and `aborted` if the client went away first. The id is the `x-request-id` of the request (1 to 200
 * visible ASCII characters), else the trace id of its `traceparent`, else a new UUID. `app.close()` also closes Sluice.
 *
 *     await app.register(sluiceFastify, { logger })
 *
 * @throws {TypeError} if `logger` is no logger
 */
export async function sluiceFastify(app: FastifyServer, options: SluiceFastifyOptions): Promise<void> {
  const { logger } = ownFields(options)
  const checked = logger === undefined ? undefined : checkLogger(logger)
  app.addHook('onRequest', (request, reply, next) => {
    const { raw, routeOptions } = request
    withContext({ requestId: requestIdOf(raw.headers) }, () => {
      const facts = () => ({ method: raw.method, url: raw.url, route: routeOptions.url })
      logAtEnd(reply.raw, { logger: () => checked ?? request.log, facts })
      next()
    })
  })
  app.addHook('onClose', async () => {
    await close()
  })
}

// Hooks of a plugin without this concern only the routes of the plugin.
Object.assign(sluiceFastify, { [Symbol.for('skip-override')]: true, [Symbol.for('fastify.display-name')]: 'sluice' })
