import { connect } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { caller, log, startReceiverForTest } from './support.js'

describe('pages that nobody reads', () => {
  it('have a bound for each key, do not stop others, and end after 30 s', async () => {
    const receiver = await startReceiverForTest()
    onTestFinished(() => receiver.close())
    const { url, call } = receiver
    for (let number = 0; number < 7; number++) {
      await call('POST', '/logs/demo', { ...log, message: 'x'.repeat(1_000_000) })
    }
    const { key } = (await call('POST', '/api/keys', { scopes: ['read'] })).body
    const read = (apiKey: string) => caller({ url, apiKey })('GET', '/api/logs/demo?limit=7')
    const sockets = Array.from({ length: 4 }, () => connect(Number(new URL(url).port), '127.0.0.1').pause())
    for (const socket of sockets) socket.on('error', () => {})
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })

    const held = async () => (await read(key)).status === 503
    // The kernel takes a page or two for each connection.
    await vi.waitUntil(
      async () => {
        for (const socket of sockets) {
          socket.write(`GET /api/logs/demo?limit=7 HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`)
        }
        return (await held()) && (await held())
      },
      { timeout: 20_000, interval: 100 },
    )
    const refused = await read(key)
    expect(refused).toMatchObject({ status: 503, body: { success: false } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await read(receiver.apiKey!)).body.list).toHaveLength(7)
    await vi.waitUntil(async () => !(await held()), { timeout: 60_000, interval: 500 })
  })
})
