import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { withContext } from 'sluice'
import type { Logger } from 'winston'

/** A middleware: all lines of a request get its id, and one line says how it ended. */
export function requestLines(logger: Logger) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void) => {
    const startedAt = performance.now()
    const requestId = String(request.headers['x-request-id'] ?? randomUUID())
    response.once('close', () => {
      const path = request.url?.split('?')[0] // a query may have secrets
      const durationMs = Math.round(performance.now() - startedAt)
      const status = response.statusCode
      const line = { requestId, method: request.method, path, status, durationMs }
      logger.log(status < 500 ? 'info' : 'error', 'request', line)
    })
    withContext({ requestId }, next)
  }
}
