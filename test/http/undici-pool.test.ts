import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { loadUndici } from '../../src/http/load-undici.js'
import { UndiciPool } from '../../src/http/undici-pool.js'
import { systemLoop } from '../../src/runtime/loop.js'

it('a request on a new connection is answered, even while a connection is being made for a request that was given up', async () => {
  await loadUndici()
  const server = createServer((_, response) => response.writeHead(201).end())
  server.listen(0)
  await once(server, 'listening')
  const pool = new UndiciPool({
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    maxConnections: 1,
    requestTimeoutMs: 5000,
    maxBodyBytes: 1000,
    loop: systemLoop,
  })
  onTestFinished(async () => {
    await pool.destroy()
    server.close()
  })
  const request = { method: 'POST', path: '/', headers: {}, body: '{}' } as const
  const givenUp = new AbortController()
  const first = pool.exchange({ ...request, signal: givenUp.signal })
  givenUp.abort()
  expect(await first).toMatchObject({ type: 'broken' })
  expect(await pool.exchange({ ...request, connection: 'new' })).toMatchObject({
    type: 'answered',
    answer: { status: 201 },
  })
})

it('of an answer without an end a kilobyte is kept, and the connection is closed', async () => {
  await loadUndici()
  let written = 0
  const server = createServer((_, response) => {
    const write = () => {
      while (response.writable && !response.destroyed) {
        written += 65_536
        if (!response.write(Buffer.alloc(65_536, 'x'))) return
      }
    }
    response.writeHead(201).on('drain', write)
    write()
  })
  server.listen(0)
  await once(server, 'listening')
  const closed = new Promise((resolve) => server.once('connection', (socket) => socket.once('close', resolve)))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const plan = { origin, maxConnections: 1, requestTimeoutMs: 5000, maxBodyBytes: 65_536, loop: systemLoop }
  const pool = new UndiciPool(plan)
  onTestFinished(async () => {
    await pool.destroy()
    server.close()
  })
  const exchange = await pool.exchange({ method: 'POST', path: '/', headers: {}, body: '{}' })
  expect(exchange).toMatchObject({ type: 'answered', complete: false, answer: { status: 201, body: 'x'.repeat(1024) } })
  await closed
  expect(written).toBeGreaterThan(65_536)
})
