import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { holdingConnector, quietConnector } from '../../src/http/connector.js'

let server: Server
const accepted: Socket[] = []
afterEach(() => {
  for (const socket of accepted.splice(0)) socket.destroy()
  server.close()
})

async function listen(host = '127.0.0.1'): Promise<string> {
  server = createServer((socket) => void accepted.push(socket.resume().on('error', () => {}))).listen(0, host)
  await once(server, 'listening')
  return String((server.address() as { port: number }).port)
}

type Connector = ReturnType<typeof quietConnector>

function dial(connect: Connector, target: { protocol: string; port: string; hostname?: string }) {
  return new Promise<Socket>((resolve, reject) => {
    const about = { hostname: '127.0.0.1', host: 'unused', ...target }
    connect(about, (...[error, socket]) => (error === null ? resolve(socket) : reject(error)))
  })
}

describe('a connector', () => {
  it('gives up a server that accepts, but does not finish the TLS handshake', async () => {
    const port = await listen()
    const connect = holdingConnector({ connectTimeoutMs: 100 })
    await expect(dial(connect, { protocol: 'https:', port })).rejects.toMatchObject({
      code: 'ETIMEDOUT',
      message: expect.stringMatching(/^no connection within 100 ms/),
    })
    // The server sees the end of it: nothing is left open.
    await once(accepted[0]!, 'close')
  })

  it('does not end a connection that was made in time', async () => {
    const port = await listen()
    const socket = await dial(holdingConnector({ connectTimeoutMs: 50 }), { protocol: 'http:', port })
    const later = dial(holdingConnector({ connectTimeoutMs: 60 }), { protocol: 'https:', port })
    await expect(later).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    const echoed = once(socket, 'data')
    accepted[0]!.write('still there')
    expect(String((await echoed)[0])).toBe('still there')
    socket.destroy()
  })

  it('says why a connection is refused, and survives errors of one that is in use', async () => {
    const port = await listen()
    const socket = await dial(quietConnector({ connectTimeoutMs: 5000 }), { protocol: 'http:', port })
    await expect.poll(() => accepted.length).toBe(1)
    accepted[0]!.resetAndDestroy()
    await new Promise((closed) => socket.once('close', closed))
    server.close()
    await once(server, 'close')
    const refused = dial(holdingConnector({ connectTimeoutMs: 5000 }), { protocol: 'http:', port })
    await expect(refused).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('speaks to an address of IPv6', async () => {
    const port = await listen('::1')
    const socket = await dial(holdingConnector({ connectTimeoutMs: 5000 }), {
      protocol: 'http:',
      port,
      hostname: '::1',
    })
    expect(socket.remoteAddress).toBe('::1')
    socket.destroy()
  })
})
