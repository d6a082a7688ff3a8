import { existsSync, readFileSync } from 'node:fs'
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { say } from '../stderr.js'

/**
 * Tracks the newest answer of each connection, so that a stop answers every request it has taken and takes no others. The last answer on a
 * connection says `Connection: close`; requests that are pipelined behind it have no effect.
 *
 * Refuses connections beyond `maxConnections`, and of one address beyond a half of it: nobody can take all that the process can open.
 */
export class Connections {
  readonly #max = maxConnections()
  /** All connections by the address and port of their other end. With TLS, what the secure ones lie on. */
  readonly #open = new Map<string, Socket>()
  readonly #ofAddress = new Map<string, number>()
  /** The newest answer on each connection that can have requests; undefined before the first one. */
  readonly #newest = new Map<Socket, ServerResponse | undefined>()
  readonly #lastTaken = new WeakSet<Socket>()
  #isStopping = false
  #saidAtMs = Number.NEGATIVE_INFINITY

  /** Track the connections of a server from now on. */
  watch(server: Server, { secure }: { readonly secure: boolean }): void {
    // The first to hear of a connection: the server does nothing with one that is destroyed.
    server.prependListener('connection', (socket: Socket) => this.#opened(socket))
    server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => this.#add(socket))
  }

  #opened(socket: Socket): void {
    const { remoteAddress: address = '' } = socket
    const count = (this.#ofAddress.get(address) ?? 0) + 1
    if (this.#open.size >= this.#max || count > this.#max / 2) {
      socket.destroy()
      this.#sayRefused(address, count - 1)
      return
    }
    const end = otherEnd(socket)
    this.#open.set(end, socket)
    this.#ofAddress.set(address, count)
    socket.once('close', () => {
      this.#open.delete(end)
      const left = this.#ofAddress.get(address)! - 1
      if (left === 0) this.#ofAddress.delete(address)
      else this.#ofAddress.set(address, left)
    })
  }

  /** Once a minute. */
  #sayRefused(address: string, count: number): void {
    const nowMs = performance.now()
    if (nowMs - this.#saidAtMs < 60_000) return
    this.#saidAtMs = nowMs
    say(
      `refused a connection of ${address}, which has ${count} open; all have ${this.#open.size}. At most ${this.#max} may be open, and a half of them by one address`,
    )
  }

  #add(socket: Socket): void {
    if (socket.destroyed) return
    this.#newest.set(socket, undefined)
    socket.once('close', () => this.#newest.delete(socket))
    // Node pauses its parser while many answers wait to be sent. Without a listener, TLS feeds the paused parser all the same, and that ends
    // the connection with a 400. With one, what comes meanwhile waits in the socket.
    if (socket instanceof TLSSocket) socket.on('data', () => {})
  }

  /** True if the request may be answered. False after an answer on its connection has said `Connection: close`. */
  takes(response: ServerResponse): boolean {
    const { socket } = response.req
    if (this.#isStopping) {
      if (this.#lastTaken.has(socket)) return false
      announceEnd(response)
      this.#lastTaken.add(socket)
    }
    // The receiver's questions to itself come over no connection.
    if (this.#newest.has(socket)) this.#newest.set(socket, response)
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

  /** Ends the connections without a pending answer: their clients are silent, have sent half a request, or do not read. */
  drop(): void {
    const answering = new Set<string>()
    for (const [socket, response] of this.#newest) {
      if (response?.req.complete && isPending(response)) answering.add(otherEnd(socket))
      else socket.destroy()
    }
    for (const [end, socket] of this.#open) if (!answering.has(end)) socket.destroy()
  }
}

/** Most connections at a time: 4,000, and 100 fewer than the files that the process may have open, where Linux says their number. */
function maxConnections(): number {
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : ''
  const openFiles = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY)
  return Math.max(10, Math.min(4000, openFiles - 100))
}

function otherEnd({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}

function announceEnd(response: ServerResponse): void {
  response.setHeader('connection', 'close')
}

/** True while the answer is not sent. A written answer that waits behind an earlier one has no socket yet. */
function isPending({ writableEnded, writableFinished, socket }: ServerResponse): boolean {
  return !writableEnded || (!writableFinished && socket === null)
}
