import type { Dispatcher } from 'undici'
import { type ConnectionOptions, quietConnector, quietly } from './connector.js'
import { Pool, ProxyAgent } from './undici.js'

export interface UndiciPoolPlan {
  readonly origin: string
  readonly maxConnections: number
  readonly requestTimeoutMs: number
  readonly connection?: ConnectionOptions
  /** Through which every request goes: in a tunnel where the service or the proxy speaks `https:`, else as it is. */
  readonly proxyUrl?: string | undefined
}

/** Connections of undici's to one service, perhaps through a proxy, which never keep the process alive. */
export function openUndiciPool(plan: UndiciPoolPlan): Dispatcher {
  const { origin, maxConnections, requestTimeoutMs, connection, proxyUrl } = plan
  const settings = { connections: maxConnections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 }
  const connect = quietConnector({ connectTimeoutMs: requestTimeoutMs, ...connection })
  if (proxyUrl === undefined) return new Pool(origin, { ...settings, connect })
  const open = (target: string | URL, given: object) => {
    const { connect } = given as { connect: Parameters<typeof quietly>[0] }
    return new Pool(target, { ...settings, connect: quietly(connect) })
  }
  return new ProxyAgent({
    uri: proxyUrl,
    proxyTunnel: false,
    clientFactory: open,
    factory: open,
    requestTls: { timeout: requestTimeoutMs, ...connection },
    proxyTls: { timeout: requestTimeoutMs },
  })
}
