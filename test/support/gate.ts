import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A port before a server. It takes connections at once, and hands on what they bring when it is open. */
export interface Gate {
  readonly url: string
  /** Idempotent. */
  open(): void
}

/** A closed gate, until the end of the test. */
export async function closedGate(target: string): Promise<Gate> {
  const { port } = new URL(target)
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  let open = false
  const handOn = (socket: Socket) => {
    const onward = connect(Number(port), '127.0.0.1')
    keep(onward)
    socket.pipe(onward).pipe(socket)
  }
  const server = createServer((socket) => {
    keep(socket)
    if (open) handOn(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open() {
      if (open) return
      open = true
      for (const socket of [...sockets]) handOn(socket)
    },
  }
}
