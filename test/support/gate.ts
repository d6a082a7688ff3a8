import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A port before a server. It takes connections at once, and hands on what they bring while it is open. */
export interface Gate {
  readonly url: string
  /** Resolves with the first connection. */
  readonly reached: Promise<unknown>
  open(): void
  shut(): void
}

/** A gate that is shut at first, until the end of the test. */
export async function gateTo(target: string): Promise<Gate> {
  const { port } = new URL(target)
  let isOpen = false
  /** Each connection with its own to the server. */
  const pairs = new Map<Socket, Socket>()
  const server = createServer((outer) => {
    const inner = connect(Number(port), '127.0.0.1')
    pairs.set(outer, inner)
    for (const [one, other] of [[outer, inner] as const, [inner, outer] as const]) {
      one
        .on('error', () => {})
        .on('close', () => {
          pairs.delete(outer)
          other.destroy()
        })
    }
    inner.pipe(outer)
    if (isOpen) outer.pipe(inner)
  })
  server.listen(0, '127.0.0.1')
  const reached = once(server, 'connection')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of pairs.keys()) socket.destroy()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reached,
    open() {
      if (isOpen) return
      isOpen = true
      for (const [outer, inner] of pairs) outer.pipe(inner)
    },
    shut() {
      isOpen = false
      for (const [outer, inner] of pairs) outer.unpipe(inner)
    },
  }
}
