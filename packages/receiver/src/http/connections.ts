import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/**
 * Tracks the newest answer of each connection, so that a stop answers every request it has taken and takes no others. The last answer on a
 * connection says `Connection: close`; requests that are pipelined behind it have no effect.
 */
export class Connections {
  /** The newest answer on each open connection; undefined before the first request. */
  readonly #newest = new Map<Socket, ServerResponse | undefined>()
  readonly #lastTaken = new WeakSet<Socket>()
  /** With TLS: what the connections above lie on, and connections that are not secure yet. */
  readonly #beneath = new Set<Socket>()
  #isStopping = false

  /** Track the connections of a server from now on. */
  watch(server: Server, { secure }: { readonly secure: boolean }): void {
    server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => this.#add(socket))
    if (!secure) return
    server.on('connection', (socket: Socket) => {
      this.#beneath.add(socket)
      socket.once('close', () => this.#beneath.delete(socket))
    })
  }

  #add(socket: Socket): void {
    this.#newest.set(socket, undefined)
    socket.once('close', () => this.#newest.delete(socket))
    // Node pauses its parser while many answers wait to be sent. Without a listener, TLS feeds the paused parser all the same, and that ends
    // the connection with a 400. With one, what comes meanwhile waits in the socket.
    if (socket instanceof TLSSocket) socket.on('data', () => {})
  }

  /** True if the request may be answered. False after an answer on its connection has said `Connection: close`. */
  takes(response: ServerResponse): boolean {
    const { socket } = response.req
    // For a host name with several addresses fastify makes a server for each, and only the first one is watched.
    if (!this.#newest.has(socket)) this.#add(socket)
    if (this.#isStopping) {
      if (this.#lastTaken.has(socket)) return false
      announceEnd(response)
      this.#lastTaken.add(socket)
    }
    this.#newest.set(socket, response)
    return true
  }

  /** From now on each connection ends with the answer to its current request, or else to its next one. */
  stop(): void {
    this.#isStopping = true
    for (const [socket, response] of this.#newest) {
      if (response === undefined || response.headersSent) continue
      announceEnd(response)
      this.#lastTaken.add(socket)
    }
  }

  /** Ends the connections without a pending answer: their clients have sent half a request, or do not read. */
  drop(): void {
    for (const [socket, response] of this.#newest) {
      if (response === undefined || !response.req.complete || !isPending(response)) socket.destroy()
    }
    // Without connections that are secure, only those are left whose clients have not finished, or begun, the handshake.
    if (this.#newest.size === 0) for (const socket of this.#beneath) socket.destroy()
  }
}

function announceEnd(response: ServerResponse): void {
  response.setHeader('connection', 'close')
}

/** True while the answer is not sent. A written answer that waits behind an earlier one has no socket yet. */
function isPending({ writableEnded, writableFinished, socket }: ServerResponse): boolean {
  return !writableEnded || (!writableFinished && socket === null)
}
