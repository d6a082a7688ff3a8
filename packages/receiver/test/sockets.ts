import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'

/** An open connection to a receiver. */
export async function connected(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

/** Sends bytes and returns the receiver's answer until it closes the connection. */
export async function exchange(url: string, bytes: string): Promise<string> {
  const socket = await connected(url)
  socket.write(bytes)
  return text(socket)
}

/** A request as bytes. `body` may be shorter than the announced length. */
export function requestBytes({
  method = 'POST',
  path = '/logs/demo',
  apiKey,
  body,
  headers = {},
}: {
  readonly method?: string
  readonly path?: string
  readonly apiKey: string | null
  readonly body: string
  readonly headers?: Readonly<Record<string, string | number>>
}): string {
  const all = {
    host: 'x',
    'x-api-key': apiKey ?? '',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/** Statuses of the answers so far. */
export function statuses(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}
