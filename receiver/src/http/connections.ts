import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * What each connection is at, so that a stop answers everything that was taken and takes nothing that it could not answer: the last
 * answer on a connection says `Connection: close`, and what is pipelined behind it has no effect.
 */
export class Connections {
  /** The newest answer on each connection that is open; none where nothing was asked yet. */
  readonly #newest = new Map<Socket, ServerResponse | undefined>()
  readonly #lastTaken = new WeakSet<Socket>()
  #isStopping = false

  /** To be called when it is opened. */
  add(socket: Socket): void {
    this.#newest.set(socket, undefined)
    socket.once('close', () => this.#newest.delete(socket))
  }

  /** Whether a request is to be answered: not when the stop has announced that nothing more will be on its connection. */
  takes(response: ServerResponse): boolean {
    const { socket } = response.req
    // Of a name with several addresses, all but the first have servers of their own, which fastify keeps to itself.
    if (!this.#newest.has(socket)) this.add(socket)
    if (this.#isStopping) {
      if (this.#lastTaken.has(socket)) return false
      announceEnd(response)
      this.#lastTaken.add(socket)
    }
    this.#newest.set(socket, response)
    return true
  }

  /** From now on each connection ends with the answer to what it has asked; where it has not asked yet, with the next one. */
  stop(): void {
    this.#isStopping = true
    for (const [socket, response] of this.#newest) {
      if (response === undefined || response.headersSent) continue
      announceEnd(response)
      this.#lastTaken.add(socket)
    }
  }

  /** End the connections on which nothing is being answered: of clients that have sent half a request, or that do not read. */
  drop(): void {
    for (const [socket, response] of this.#newest) {
      if (response === undefined || !response.req.complete || !isPending(response)) socket.destroy()
    }
  }
}

function announceEnd(response: ServerResponse): void {
  response.setHeader('connection', 'close')
}

/** An answer that is written, but waits behind that of an earlier request, has no socket yet. */
function isPending({ writableEnded, writableFinished, socket }: ServerResponse): boolean {
  return !writableEnded || (!writableFinished && socket === null)
}
