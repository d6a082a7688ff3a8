import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A way to a server that can break. */
export class Relay {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Chooses after how many bytes from the server a new connection breaks. */
  bytesUntilCut: () => number = () => Number.POSITIVE_INFINITY
  /** From now on nothing comes back from the server. */
  isSilent = false
  /** Looks at what a client sends. It may break the connection, or lose without a word what comes back on it. */
  onSent: (bytes: Buffer, way: { readonly cut: () => void; readonly silence: () => void }) => void = () => {}
  cuts = 0

  private constructor(port: number) {
    this.#server = createServer((client) => this.#connect(client, connect(port, '127.0.0.1')))
  }

  static async start(port: number): Promise<Relay> {
    const relay = new Relay(port)
    relay.#server.listen(0, '127.0.0.1')
    await once(relay.#server, 'listening')
    return relay
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #connect(client: Socket, server: Socket): void {
    let left = this.bytesUntilCut()
    let isSilent = false
    const silence = () => {
      isSilent = true
    }
    const cut = () => {
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#sockets.delete(socket)
        cut()
      })
    }
    client.on('data', (bytes) => {
      server.write(bytes)
      this.onSent(bytes, { cut, silence })
    })
    server.on('data', (bytes) => {
      if (this.isSilent || isSilent) return
      client.write(bytes.subarray(0, left))
      left -= bytes.length
      if (left > 0) return
      this.cuts++
      // The bytes that were written so far arrive. Then the connection ends.
      client.end(cut)
    })
  }
}
