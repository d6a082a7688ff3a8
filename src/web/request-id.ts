import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isId } from '../context/active-span.js'

/**
 * The id of a request: its `x-request-id` if that is 1 to 200 visible ASCII characters, else the trace id of a valid `traceparent`, else a
 * new UUID.
 */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id']
  if (typeof given === 'string' && visible.test(given)) return given
  return traceIdOf(headers.traceparent) ?? randomUUID()
}

const visible = /^[!-~]{1,200}$/
/** Version, trace, parent and flags. Versions after 00 may have more parts. */
const traceparent = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-.*)?$/

function traceIdOf(header: unknown): string | undefined {
  if (typeof header !== 'string') return undefined
  const [, version, traceId, parentId, more] = traceparent.exec(header) ?? []
  const isKnown = version !== undefined && version !== 'ff' && (version !== '00' || more === undefined)
  return isKnown && isId(traceId, 32) && isId(parentId, 16) ? traceId : undefined
}
