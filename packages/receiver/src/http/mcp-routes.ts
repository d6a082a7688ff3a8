import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { reasonOf } from '../../../../src/errors/text-of.js'
import type { Source } from '../mcp/server.js'
import { ToolError } from '../mcp/tool.js'
import type { Access } from './access.js'
import { refuse } from './envelope.js'
import { complaints } from './failures.js'

/**
 * Route beyond the API: the Model Context Protocol, for assistants. It asks the receiver's own reading routes with the key of the request, so
 * that the scopes, the projects and the turns of that key hold. There are no sessions and no streams, so GET and DELETE are refused.
 */
export function mcpRoutes(app: FastifyInstance, access: Access): void {
  // The page's session does not count here, and a key that is bound to projects reads these.
  const config = { scope: 'read', bound: 'open' } as const
  const schema = { hide: true }
  app.setErrorHandler(answerUnreadable)
  app.post('/mcp', { schema, config }, async (request, reply) => {
    // The protocol asks for this check: another site cannot know the key, and needs no answer.
    const foreign = request.headers.origin === undefined ? undefined : access.foreign(request)
    if (foreign !== undefined) return refuse(reply, foreign)
    // Few receivers have an assistant. The others start without the SDK.
    const { answerRequest } = await import('../mcp/one-request.js')
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    const answer = await answerRequest(webRequest(request, gone.signal), {
      body: request.body,
      source: sourceOf(request),
    })
    reply.code(answer.status).header('cache-control', 'no-store')
    const body = await answer.text()
    if (body === '') return reply.send()
    return reply
      .type(answer.headers.get('content-type') ?? 'application/json')
      .serializer((text: unknown) => String(text))
      .send(body)
  })
  app.route({
    method: ['GET', 'DELETE'],
    url: '/mcp',
    schema,
    config,
    handler: async (_request, reply) => {
      reply.code(405).header('allow', 'POST')
      return failureOf(-32_000, 'there are no sessions and no streams: use POST')
    },
  })

  function sourceOf({ headers, ip }: FastifyRequest): Source {
    const { 'x-api-key': key, authorization } = headers
    const credentials = {
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...(authorization === undefined ? {} : { authorization }),
    }
    return {
      async ask(path, ended) {
        // Each question listens to a signal of its own: a tool may have many.
        const signal = AbortSignal.any([ended])
        const { statusCode, body } = await app
          .inject({ url: path, headers: credentials, remoteAddress: ip, signal })
          .catch((error) => {
            throw new ToolError(`the receiver ends: ${reasonOf(error)}`)
          })
        const read = JSON.parse(body) as Refused & Readonly<Record<string, unknown>>
        if (statusCode === 200) return read
        const reasons = [...(read.errors ?? []), ...(read.validationErrors ?? [])].map(({ message }) => message)
        throw new ToolError(`the receiver refuses (${statusCode}): ${reasons.join('; ')}`)
      },
    }
  }
}

interface Refused {
  readonly errors?: readonly { readonly message: string }[]
  readonly validationErrors?: readonly { readonly message: string }[]
}

/** The request as the SDK reads it. Every client may take JSON, whatever it says that it takes. */
function webRequest({ headers, sentBody }: FastifyRequest, signal: AbortSignal): Request {
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => [name, each] as const),
  )
  const all = new Headers(sent.map(([name, value]) => [name, value]))
  all.set('accept', 'application/json, text/event-stream')
  return new Request('http://receiver/mcp', { method: 'POST', headers: all, body: sentBody, signal })
}

/** A body that cannot be read gets an answer of the protocol. */
function answerUnreadable(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { statusCode: status = 500 } = error
  if (status >= 500) throw error
  reply.removeHeader('connection')
  const message = complaints(error, request).map(({ message }) => message)
  return reply.code(status).send(failureOf(status === 400 ? parseError : -32_000, message.join('; ')))
}

function failureOf(code: number, message: string) {
  return { jsonrpc: '2.0', id: null, error: { code, message } }
}

const parseError = -32_700
