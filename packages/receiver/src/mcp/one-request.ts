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
    return await transport.handleRequest(request, given)
  } finally {
    await server.close()
  }
}
