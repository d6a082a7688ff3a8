import type { IncomingMessage, ServerResponse } from 'node:http'
import { withContext } from '../context/context.js'
import { ownFields } from '../runtime/own-fields.js'
import { requestIdOf } from './request-id.js'
import { checkLogger, logAtEnd, pathOf, type RequestFacts, type RequestLogger } from './request-line.js'

/** Options of {@link sluiceExpress}. */
export interface SluiceExpressOptions {
  /** A logger of pino or winston: it gets one line for each request. @default no line */
  readonly logger?: RequestLogger | undefined
}

/** The part of express's request that is read here. */
export interface ExpressRequest extends IncomingMessage {
  readonly originalUrl?: string
  readonly baseUrl?: string
  readonly route?: { readonly path?: unknown } | undefined
}

/** A middleware of express. */
export type ExpressMiddleware = (
  request: ExpressRequest,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

/**
 * A middleware for express: all lines of a request get its `requestId`, and one line says how it ended, with `method`, `route` (its
 * pattern) or `path`, `status` and `durationMs`, and `aborted` if the client went away first. The id is the `x-request-id` of the request
 * (1 to 200 visible ASCII characters), else the trace id of its `traceparent`, else a new UUID.
 *
 *     app.use(sluiceExpress({ logger }))
 *
 * @throws {TypeError} if `logger` is no logger
 */
export function sluiceExpress(options?: SluiceExpressOptions): ExpressMiddleware {
  const { logger } = ownFields(options)
  const checked = logger === undefined ? undefined : checkLogger(logger)
  return (request, response, next) => {
    withContext({ requestId: requestIdOf(request.headers) }, () => {
      if (checked !== undefined) logAtEnd(response, { logger: () => checked, facts: () => factsOf(request) })
      next()
    })
  }
}

function factsOf(request: ExpressRequest): RequestFacts {
  const { method, originalUrl: url = request.url, baseUrl = '', route } = request
  const pattern = typeof route?.path === 'string' ? `${baseUrl}${route.path}` : undefined
  return { method, url, route: pattern !== undefined && fits(pattern, pathOf(url ?? '')) ? pattern : undefined }
}

/** False for the pattern of a router whose own path express has taken away, as it does when a handler throws. */
function fits(pattern: string, path: string): boolean {
  return /[*{]/.test(pattern) || partsOf(pattern) === partsOf(path)
}

function partsOf(path: string): number {
  return path.split('/').filter((part) => part !== '').length
}
