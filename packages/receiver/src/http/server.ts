import { createServer as createPlain, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { Socket } from 'node:net'
import type { Connections } from './connections.js'

/** Certificate chain and private key, in PEM. */
export interface Tls {
  readonly cert: Buffer
  readonly key: Buffer
}

export interface ServerSettings {
  /** Without it the server speaks plain HTTP. */
  readonly tls?: Tls | undefined
  /** Longest time for a request to arrive, in ms. */
  readonly requestTimeoutMs: number
  readonly connections: Connections
}

/** Makes the server of one address. */
export function createServer(
  listener: RequestListener,
  { tls, requestTimeoutMs, connections }: ServerSettings,
): Server {
  const options: ServerOptions = {
    // Node checks for late requests at this interval only.
    connectionsCheckingInterval: Math.max(100, Math.min(requestTimeoutMs / 4, 5000)),
    // Both are equal: Node swaps them if the time for the head is the longer one.
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
  }
  const server =
    tls === undefined
      ? createPlain(options, listener)
      : createSecure({ ...options, ...tls, handshakeTimeout: handshakeTimeoutMs }, listener)
  // Nothing can be said on a connection without a handshake: an answer would wait for it.
  server.prependListener('tlsClientError', (_error: Error, socket: Socket) => socket.destroy())
  connections.watch(server, { secure: tls !== undefined })
  return server
}

/** A connection ends after this time without a request: later than those of proxies that reuse it. */
const keepAliveTimeoutMs = 72_000
/** A connection that is not secure after this time ends. */
const handshakeTimeoutMs = 10_000
