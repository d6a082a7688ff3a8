import { connect as connectTcp, isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type * as undici from 'undici'
import { setImmediate, systemClock } from '../runtime/clock.js'

/** Options for connections, in place of the defaults of Node. */
export interface ConnectionOptions {
  /** Name resolution. @default dns.lookup */
  readonly lookup?: LookupFunction
  /** Authorities to trust, PEM. @default those of Node */
  readonly ca?: string | Buffer
  /** Opens each connection, in place of the network of the machine. Not asked where a proxy is set. @default sockets of Node */
  readonly open?: undici.buildConnector.connector
}

export type TimedConnectionOptions = ConnectionOptions & { readonly connectTimeoutMs: number }

/**
 * A connector whose sockets never keep the process alive. An unfinished flush does that with its own timer. Node checks certificates for
 * the host of the URL. TLS offers `http/1.1` alone, and resumes its sessions.
 */
export function quietConnector(options: TimedConnectionOptions): undici.buildConnector.connector {
  return quietly(holdingConnector(options))
}

/** A connector whose sockets keep the process alive, with the same TLS. */
export function holdingConnector({ open, ...options }: TimedConnectionOptions): undici.buildConnector.connector {
  return open ?? socketConnector(options)
}

/** After this time without a packet the system asks whether the server is there. */
const keepAliveMs = 60_000

/** undici has such a connector, too. To load it takes a worker 10 ms more. */
function socketConnector({
  connectTimeoutMs,
  ...options
}: Omit<TimedConnectionOptions, 'open'>): undici.buildConnector.connector {
  /** For all connections of a pool: they go to one server. */
  let session: Buffer | undefined
  return ({ hostname: host, protocol, port: written }, callback) => {
    const isSecure = protocol === 'https:'
    const port = written === '' ? (isSecure ? 443 : 80) : Number(written)
    const name = isIP(host) === 0 ? { servername: host } : {}
    const resumed = session === undefined ? {} : { session }
    const socket: Socket = isSecure
      ? connectTls({ ...options, host, port, ...name, ...resumed, ALPNProtocols: ['http/1.1'] })
      : connectTcp({ ...options, host, port, highWaterMark } as TcpNetConnectOpts)
    socket.setKeepAlive(true, keepAliveMs).setNoDelay(true)

    // One turn of the event loop more: a connection may have been made while the loop was blocked.
    const expire = () => setImmediate(() => isSettled || socket.destroy(connectTimeout(socket, connectTimeoutMs)))
    const timer = systemClock.schedule(expire, connectTimeoutMs)
    let isSettled = false
    const settle = (report: () => void) => {
      if (isSettled) return
      isSettled = true
      timer.cancel()
      report()
    }
    socket.once(isSecure ? 'secureConnect' : 'connect', () => settle(() => callback(null, socket)))
    // It stays: an error of the connection in use is told by its `close`.
    socket.on('error', (error) => settle(() => callback(error, null)))
    socket.once('close', () => settle(() => {}))
    socket.on('session', (latest: Buffer) => {
      session = latest
    })
    return socket
  }
}

/** Bytes that a connection without TLS reads at a time. */
const highWaterMark = 65_536

function connectTimeout({ autoSelectFamilyAttemptedAddresses: tried = [] }: Socket, timeoutMs: number): Error {
  const addresses = tried.length === 0 ? '' : ` (tried ${tried.join(', ')})`
  return Object.assign(new Error(`no connection within ${timeoutMs} ms${addresses}`), { code: 'ETIMEDOUT' })
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
