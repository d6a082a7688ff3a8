import { isIP } from 'node:net'
import { proxyCredentials } from './proxy.js'

/** A server, and how to reach it. */
export interface Destination {
  /** Base URL. */
  readonly url: string
  /** Wires to an `https:` server go through a tunnel. Wires to an `http:` server end at the proxy, which takes requests for whole URLs. */
  readonly proxyUrl: string | undefined
  /** Authorities to trust, PEM. @default those of Node */
  readonly ca?: string | Buffer
  /** Time until a wire is made. */
  readonly connectTimeoutMs: number
}

/** TLS of a connection. */
export interface Security {
  /** The certificate has to be for it. */
  readonly host: string
  /** Undefined where the host is an address. */
  readonly servername: string | undefined
  /** Authorities to trust, PEM. Undefined: those of Node. */
  readonly ca: string | undefined
}

/** Where the connection goes on behind a proxy. */
export interface Tunnel {
  /** It asks the proxy for that. */
  readonly request: string
  /** Inside. */
  readonly security: Security
}

/** The way to a server, as plain data. */
export interface Route {
  /** Of the server, or of the proxy before it. */
  readonly host: string
  readonly port: number
  readonly security: Security | undefined
  readonly tunnel: Tunnel | undefined
  /** Time until it is made. */
  readonly timeoutMs: number
}

export function routeTo({ url, proxyUrl, ca, connectTimeoutMs: timeoutMs }: Destination): Route {
  const service = new URL(url)
  const proxy = proxyUrl === undefined ? undefined : new URL(proxyUrl)
  const security = securityOf(service, ca?.toString())
  if (proxy === undefined) return { ...addressOf(service), security, tunnel: undefined, timeoutMs }
  const tunnel = security && { request: tunnelRequest(service, proxy), security }
  return { ...addressOf(proxy), security: securityOf(proxy, undefined), tunnel, timeoutMs }
}

function addressOf({ hostname, port, protocol }: URL): Pick<Route, 'host' | 'port'> {
  const usual = protocol === 'https:' ? 443 : 80
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? usual : Number(port) }
}

function securityOf(url: URL, ca: string | undefined): Security | undefined {
  if (url.protocol !== 'https:') return undefined
  const { host } = addressOf(url)
  return { host, servername: isIP(host) === 0 ? host : undefined, ca }
}

function tunnelRequest(service: URL, proxy: URL): string {
  const credentials = proxyCredentials(proxy)
  const authorization = credentials === undefined ? '' : `proxy-authorization: ${credentials}\r\n`
  const target = `${service.hostname}:${addressOf(service).port}`
  return `CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${authorization}\r\n`
}
