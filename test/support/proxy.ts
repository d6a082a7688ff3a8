import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, request } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { join } from 'node:path'

/** An HTTP proxy: it tunnels on CONNECT, and forwards requests for whole URLs. Every host is at one port of this machine. */
export interface TestProxy {
  readonly url: string
  /** Requests that it got: `CONNECT host:port`, or `POST http://host/path`. */
  readonly asked: string[]
  readonly credentials: Set<string | undefined>
  /** The status of its refusals. `undefined`: it refuses nothing. */
  refuse: number | undefined
  close(): Promise<void>
}

/** With a certificate for localhost, it is spoken to by TLS. */
export async function startProxy(
  targetPort: () => number,
  { certificate }: { certificate?: 'foreign' } = {},
): Promise<TestProxy> {
  const sockets = new Set<Socket>()
  const forward: RequestListener = (incoming, outgoing) => {
    proxy.asked.push(`${incoming.method} ${incoming.url}`)
    proxy.credentials.add(incoming.headers['proxy-authorization'])
    if (proxy.refuse !== undefined) {
      outgoing.writeHead(proxy.refuse).end()
      return
    }
    const { pathname, search } = new URL(incoming.url!)
    const { 'proxy-authorization': _, 'proxy-connection': __, ...headers } = incoming.headers
    const target = { port: targetPort(), host: '127.0.0.1', path: pathname + search, method: incoming.method, headers }
    const forwarded = request(target, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(forwarded)
  }
  const pem = (name: string) => readFileSync(join(import.meta.dirname, `certificates/${name}.pem`))
  const server =
    certificate === undefined
      ? createServer(forward)
      : createSecureServer({ key: pem('key'), cert: pem(certificate) }, forward)
  server.on('connection', (socket) => sockets.add(socket))
  server.on('connect', (incoming, socket: Socket, head) => {
    socket.on('error', () => {})
    proxy.asked.push(`CONNECT ${incoming.url}`)
    proxy.credentials.add(incoming.headers['proxy-authorization'])
    if (proxy.refuse !== undefined) {
      socket.end(`HTTP/1.1 ${proxy.refuse} No\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const tunnel = connect(targetPort(), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      tunnel.write(head)
      tunnel.pipe(socket).pipe(tunnel)
    })
    tunnel.on('error', () => socket.destroy())
    socket.on('error', () => tunnel.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: TestProxy = {
    url: `${certificate === undefined ? 'http' : 'https'}://user:p%40ss@127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    credentials: new Set(),
    refuse: undefined,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return proxy
}
