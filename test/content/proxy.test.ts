import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { connectTo, errorOf, hello } from '../support/content-client.js'
import { ContentServer } from '../support/content-server.js'
import { articles, MigratedFile } from '../support/migration.js'
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

  it('the content client goes in a tunnel where the service speaks TLS, and says what the proxy says', async () => {
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

  it('sluice migrate makes its entries', async () => {
    const variables = {
      SLUICE_URL: url,
      SLUICE_ALLOW_INSECURE: '1',
      SLUICE_API_KEY: server.apiKey,
      HTTP_PROXY: proxy.url,
    }
    const file = new MigratedFile(variables, articles(3))
    expect(await file.run()).toMatchObject({ code: 0 })
    expect(server.entries).toHaveLength(3)
    expect(proxy.asked).toHaveLength(3)
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
