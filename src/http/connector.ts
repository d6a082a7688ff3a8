import type { LookupFunction, Socket } from 'node:net'
import type * as undici from 'undici'
// From its own file, as in undici-pool.ts.
// @ts-expect-error undici describes the types of its whole alone
import connect from 'undici/lib/core/connect.js'

const buildConnector: typeof undici.buildConnector = connect

/** Options for connections, in place of the defaults of Node. */
export interface ConnectionOptions {
  /** Name resolution. @default dns.lookup */
  readonly lookup?: LookupFunction
  /** Authorities to trust, PEM. @default those of Node */
  readonly ca?: string | Buffer
  /** Opens each connection, in place of the network of the machine. Not asked where a proxy is set. @default undici's connector */
  readonly open?: undici.buildConnector.connector
}

/**
 * A connector whose sockets never keep the process alive. An unfinished flush does that with its own timer. Node checks certificates for
 * the host of the URL. TLS offers `http/1.1` alone, and resumes its sessions.
 */
export function quietConnector(options: TimedConnectionOptions): undici.buildConnector.connector {
  return quietly(sessionKeeping(options))
}

export type TimedConnectionOptions = ConnectionOptions & { readonly connectTimeoutMs: number }

/** A connector whose sockets keep the process alive, with the same TLS. */
export function sessionKeeping({
  connectTimeoutMs,
  open,
  ...options
}: TimedConnectionOptions): undici.buildConnector.connector {
  const connect = open ?? buildConnector({ timeout: connectTimeoutMs, ...options })
  // undici has a weak reference to the last session. This one keeps it.
  const kept: { session?: Buffer } = {}
  return (target, callback) => {
    const socket = connect(target, callback) as unknown as Socket | undefined
    return socket?.on('session', (session: Buffer) => {
      kept.session = session
    })
  }
}

/** The same connector. Its sockets never keep the process alive. */
export function quietly(connect: undici.buildConnector.connector): undici.buildConnector.connector {
  return (target, callback) => {
    const socket = connect(target, (...[error, connected]) => {
      if (error === null) {
        silence(connected)
        callback(null, connected)
      } else callback(error, null)
    }) as unknown as Partial<Socket> | undefined
    if (typeof socket?.unref === 'function') silence(socket as Socket)
    return socket
  }
}

function silence(socket: Socket): void {
  socket.unref()
  // undici refs the socket while a request runs on it.
  socket.ref = () => socket
}
