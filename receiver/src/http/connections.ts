import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Tracks the newest answer of each connection, so that a stop answers every request it has taken and takes no others. The last answer on a
 * connection says `Connection: close`; requests that are pipelined behind it have no effect.
 */
export class Connections {
  /** The newest answer on each open connection; undefined before the first request. */
  readonly #newest = new Map<Socket, ServerResponse | undefined>()
  readonly #lastTaken = new WeakSet<Socket>()
  #isStopping = false

  /** The caller calls this for each new connection. */
  add(socket: Socket): void {
    this.#newest.set(socket, undefined)
    socket.once('close', () => this.#newest.delete(socket))
  }

  /** True if the request may be answered. False after an answer on its connection has said `Connection: close`. */
  takes(response: ServerResponse): boolean {
    const { socket } = response.req
    // For a host name with several addresses fastify makes a server for each, and only the first one calls `add`.
    if (!this.#newest.has(socket)) this.add(socket)
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
  }
}

function announceEnd(response: ServerResponse): void {
  response.setHeader('connection', 'close')
}

/** True while the answer is not sent. A written answer that waits behind an earlier one has no socket yet. */
function isPending({ writableEnded, writableFinished, socket }: ServerResponse): boolean {
  return !writableEnded || (!writableFinished && socket === null)
}
