import type { IncomingMessage } from 'node:http'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Failure, ValidationError } from '../schemas/envelopes.js'
import { utcTimeSchema } from '../schemas/time.js'
import { ours } from './answers.js'
import { projectOf } from './bounds.js'
import { maxBodyBytes, type RejectedRequests } from './rejected-requests.js'

const statuses: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 409, 412, 413, 415])
/** Paths of the API. */
const operations = /^(\/v1)?\/(logs|value_tracking|ng-cms|otlp)(?=[/?]|$)/

/**
 * Remembers the requests of applications that are refused. The hook runs for answers that are objects, so an accepted record, whose answer
 * is a text, does not pay for it.
 */
export function rememberRejected(app: FastifyInstance, rejected: RejectedRequests): void {
  app.addHook('preSerialization', async (request, reply, answer) => {
    const { method, url, headers, socket, raw, sentBody } = request
    const status = reply.statusCode
    if (!statuses.has(status) || !isFromApplication(request)) return answer
    const facts = {
      at: new Date().toISOString(),
      method,
      path: url,
      project: projectOf(request, request.routeOptions.config ?? {}),
      status,
      reason: rejectionReason(answer as Refused),
      userAgent: headers['user-agent'] ?? '',
      remote: socket.remoteAddress ?? '',
    }
    if (sentBody !== null || raw.readableDidRead) rejected.add({ ...facts, body: sentBody ?? Buffer.alloc(0) })
    else collect(raw, (body) => rejected.add({ ...facts, body }))
    return answer
  })
}

/** Route beyond the API: the last requests of applications that were refused. */
export function rejectedRoutes(app: FastifyInstance, rejected: RejectedRequests): void {
  const text = Type.String()
  const item = Type.Object({
    id: Type.Integer(),
    at: utcTimeSchema,
    method: text,
    path: text,
    status: Type.Integer(),
    reason: text,
    body: Type.String({ description: 'At most 4,096 characters' }),
    appName: Type.Optional(text),
    userAgent: text,
    remote: text,
  })
  app.get('/rejected', {
    schema: ours('The last requests that were refused, newest first', {
      200: Type.Object({ items: Type.Array(item) }),
    }),
    config: { bound: 'open' },
    handler: async ({ boundTo }) => {
      return { items: rejected.list(boundTo) }
    },
  })
}

interface Refused {
  readonly errors?: Failure['errors']
  readonly validationErrors?: readonly ValidationError[]
  /** The reason in OpenTelemetry's protocol. */
  readonly message?: string
}

function rejectionReason({ errors = [], validationErrors = [], message }: Refused): string {
  if (message !== undefined) return message
  return [...errors, ...validationErrors].map(({ message }) => message).join('; ')
}

/** An application with a wrong address asks for other paths, too. It does not read. */
function isFromApplication({ url, method, is404 }: FastifyRequest): boolean {
  return operations.test(url) || (is404 && method !== 'GET' && method !== 'HEAD')
}

/** Reads a body that nothing else reads, and keeps its beginning. The rest is dropped, as Node would do. */
function collect(message: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = []
  let bytes = 0
  message.on('data', (chunk: Buffer) => {
    if (bytes < maxBodyBytes) chunks.push(chunk.subarray(0, maxBodyBytes - bytes))
    bytes += chunk.length
  })
  message.once('error', () => {})
  message.once('close', () => done(Buffer.concat(chunks)))
}
