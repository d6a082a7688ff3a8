import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { type Source, toolServer } from './server.js'

/** Answers one request of the streamable HTTP transport, of any version of the protocol. There are no sessions and no streams: each answer is JSON. */
export async function answerRequest(
  request: Request,
  { body, source }: { body: unknown; source: Source },
): Promise<Response> {
  const given = { parsedBody: body }
  if (!(await isLegacyRequest(request, body))) {
    const handler = createMcpHandler(() => toolServer(source), { legacy: 'reject', maxSubscriptions: 0 })
    return await handler.fetch(request, given)
  }
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  const server = toolServer(source)
  await server.connect(transport)
  try {
    return await Promise.race([transport.handleRequest(request, given), goneOf(request)])
  } finally {
    // This ends the questions under way.
    await server.close()
  }
}

/** Resolves when the client has gone, of which the transport does not know. Nobody reads the answer. */
function goneOf({ signal }: Request): Promise<Response> {
  return new Promise((resolve) => {
    const end = () => resolve(new Response(null, { status: 499 }))
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
