import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { connectTo, errorOf, hello } from '../support/content-client.js'
import { ContentServer } from '../support/content-server.js'
import { startProxy, type TestProxy } from '../support/proxy.js'

let server: ContentServer
let proxy: TestProxy
beforeEach(async () => {
  server = await ContentServer.start()
  proxy = await startProxy(() => Number(new URL(server.options.url!).port))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await proxy.close()
  await server.close()
})

const url = 'http://service.example'

describe('through the proxy of the environment', () => {
  it('the content client reads and writes', async () => {
    vi.stubEnv('http_proxy', proxy.url)
    const { apiKey } = server
    const client = connectTo({ url, apiKey, allowInsecure: true })
    const id = await client.createEntry('demo', hello)
    expect(server.entries).toMatchObject([{ id, fields: { title: 'Hello' } }])
    expect(proxy.asked).toEqual([
      expect.stringMatching(/^POST http:\/\/service\.example\/ng-cms\/content\/demo\/article$/),
    ])
    expect([...proxy.credentials]).toEqual([`Basic ${Buffer.from('user:p@ss').toString('base64')}`])
    await client.close()
  })

  it('the content client uses a tunnel to a service with TLS, and reports the words of the proxy', async () => {
    vi.stubEnv('HTTPS_PROXY', proxy.url)
    proxy.refuse = 403
    const client = connectTo({ url: 'https://service.example', apiKey: 'k' })
    expect(await errorOf(client.createEntry('demo', hello))).toMatchObject({
      code: 'unsent',
      message: expect.stringContaining('403'),
    })
    expect(new Set(proxy.asked)).toEqual(new Set(['CONNECT service.example:443']))
    await client.close()
  })

  it('none is used for a host that NO_PROXY names', async () => {
    vi.stubEnv('http_proxy', proxy.url)
    vi.stubEnv('no_proxy', 'service.invalid')
    const client = connectTo({ url: 'http://service.invalid', apiKey: 'k', allowInsecure: true })
    expect(await errorOf(client.createEntry('demo', hello))).toMatchObject({ code: 'unsent' })
    expect(proxy.asked).toEqual([])
    await client.close()
  })
})
