import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ContentClient, ContentOptions } from 'sluice/content'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectTo, hello } from '../support/content-client.js'
import { ContentServer } from '../support/content-server.js'

let server: ContentServer
let client: ContentClient
const connect = (options: ContentOptions = {}) => connectTo(server.options, options)
beforeEach(async () => {
  server = await ContentServer.start()
  client = connect()
})
afterEach(async () => {
  await client.close()
  await server.close()
})

describe('an abort signal', () => {
  it('that is aborted already ends an operation before it begins', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(client.createEntry('demo', { ...hello, signal })).rejects.toThrow('enough')
    await expect(client.listContentTypes('demo', { signal }).page()).rejects.toThrow('enough')
    expect(server.requests).toEqual([])
  })

  it('ends an operation that waits for its answer', async () => {
    const controller = new AbortController()
    server.fault = () => {
      controller.abort(new Error('enough'))
      return 'silence'
    }
    const { signal } = controller
    await expect(client.listContentTypes('demo', { signal }).page()).rejects.toThrow('enough')
    expect(server.requests).toHaveLength(1)
  })

  it.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
    ['a read', (signal) => client.listContentTypes('demo', { signal }).page()],
    ['a write', (signal) => client.createEntry('demo', { ...hello, signal })],
  ])('ends %s in the middle of its answer', async (_, operation) => {
    const controller = new AbortController()
    const abort = () => setImmediate(() => controller.abort(new Error('enough')))
    subscribe('undici:request:headers', abort)
    server.fault = () => 'stalled-answer'
    await expect(operation(controller.signal)).rejects.toThrow('enough')
    unsubscribe('undici:request:headers', abort)
    expect(server.requests).toHaveLength(1)
  })

  it('ends the wait before the next attempt', async () => {
    const controller = new AbortController()
    server.fault = () => {
      setImmediate(() => controller.abort(new Error('enough')))
      return { status: 503, headers: { 'retry-after': '50' } }
    }
    const { signal } = controller
    await expect(client.listContentTypes('demo', { signal }).page()).rejects.toThrow('enough')
    expect(server.requests).toHaveLength(1)
  })

  it('keeps a request that waits for a connection from being sent', async () => {
    client = connect({ maxConnections: 1 })
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const arrived = new Promise<void>((resolve) => {
      server.fault = ({ number }) => {
        resolve()
        return number === 0 ? held : undefined
      }
    })
    const first = client.createEntry('demo', hello)
    await arrived
    const controller = new AbortController()
    const second = client.createEntry('demo', { ...hello, signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(second).rejects.toThrow('enough')
    release()
    await first
    await client.createEntry('demo', hello)
    expect(server.requests).toHaveLength(2)
  })
})
