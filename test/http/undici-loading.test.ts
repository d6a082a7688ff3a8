import { createServer, type Server } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemLoop } from '../../src/runtime/loop.js'

let server: Server
let origin: string
beforeEach(async () => {
  vi.resetModules()
  server = createServer((_, response) => void response.end('{}')).listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`
})
afterEach(() => {
  vi.doUnmock('undici')
  server.close()
})

async function openPool() {
  const { UndiciPool } = await import('../../src/http/undici-pool.js')
  return new UndiciPool({ origin, maxConnections: 2, requestTimeoutMs: 5000, maxBodyBytes: 100, loop: systemLoop })
}
const request = { method: 'GET', path: '/', headers: {} } as const

describe('a pool whose undici is not loaded yet', () => {
  it('makes all requests once it is', async () => {
    const pool = await openPool()
    const exchanges = await Promise.all([pool.exchange(request), pool.exchange(request), pool.exchange(request)])
    expect(exchanges).toMatchObject([{ type: 'answered' }, { type: 'answered' }, { type: 'answered' }])
    await pool.close()
  })

  it('waits for their answers when it is closed', async () => {
    const pool = await openPool()
    const exchange = pool.exchange(request)
    await pool.close()
    expect(await exchange).toMatchObject({ type: 'answered', complete: true })
  })

  it('sends nothing when it is destroyed', async () => {
    const pool = await openPool()
    const exchange = pool.exchange(request)
    await pool.destroy()
    expect(await exchange).toMatchObject({ type: 'broken', sent: false, reason: 'the sender has been closed' })
  })

  it('gives a request up that is cancelled meanwhile', async () => {
    const pool = await openPool()
    const controller = new AbortController()
    const exchange = pool.exchange({ ...request, signal: controller.signal })
    controller.abort()
    expect(await exchange).toMatchObject({ type: 'broken', sent: false })
    await pool.close()
  })

  it('says that it cannot be loaded, and tries again with the next request', async () => {
    const reason = 'EMFILE: too many open files'
    vi.doMock('undici', () => {
      throw new Error(reason)
    })
    const pool = await openPool()
    expect(await pool.exchange(request)).toMatchObject({ type: 'broken', sent: false, timedOut: false })
    vi.doUnmock('undici')
    expect(await pool.exchange(request)).toMatchObject({ type: 'answered' })
    await pool.close()
  })
})
