import type { Duplex } from 'node:stream'
import type { buildConnector } from 'undici'

/** A connection to the server, without streams: what a client of HTTP needs of a socket. */
export interface Wire {
  /** Write bytes, which may not change until they are flushed. Call it when the bytes before them are flushed. */
  write(bytes: Buffer): void
  /** Send the end behind what was written. The server gets time to close the connection, too. */
  end(): void
  /** Close it. */
  destroy(): void
}

/** The end of a wire. */
export interface WireEnd {
  /** Undefined where it ended in good order. */
  readonly error: Error | undefined
  /** True when the server has ended it itself, or it was never made. */
  readonly serverKnows: boolean
}

/** What happens to a wire. The loop calls these, never the wire within one of its own methods, and none throws. */
export interface WireEvents {
  /** It is made, and secure where it has to be. */
  opened(): void
  received(bytes: Buffer): void
  /** The memory of all bytes that were written may serve again. */
  flushed(): void
  /** The server writes no more. */
  ended(): void
  /** The last call, also where it was never opened. */
  closed(end: WireEnd): void
}

/** Opens wires to one server. */
export type Dial = (events: WireEvents) => Wire

/** Wires that are sockets. */
export function socketDial(connect: buildConnector.connector, { host, hostname, protocol, port }: URL): Dial {
  const target = { host, hostname: hostname.replace(/^\[|\]$/g, ''), protocol, port }
  return (events) => {
    let error: Error | undefined
    const opened = () => {
      socket.on('data', events.received)
      socket.on('end', events.ended)
      events.opened()
    }
    const flushed = (failure?: Error | null) => {
      if (!failure) events.flushed()
    }
    const socket = connect(target, (...[failure]) => {
      if (failure === null) opened()
    }) as unknown as Duplex
    socket.on('error', (failure) => {
      error = failure
    })
    socket.once('close', () => events.closed(endOf(socket, error)))
    return {
      write: (bytes) => void socket.write(bytes, flushed),
      end: () => void socket.end(),
      destroy: () => void socket.destroy(),
    }
  }
}

/** The end of a socket that is closed. */
export function endOf(socket: Duplex, error: Error | null | undefined = socket.errored): WireEnd {
  const failed = (error as NodeJS.ErrnoException | null | undefined)?.syscall !== undefined
  return { error: error ?? undefined, serverKnows: socket.readableEnded || failed }
}
