import { expect, it, onTestFinished } from 'vitest'
import { ContentServer } from '../../../../test/support/content-server.js'
import { startProxy } from '../../../../test/support/proxy.js'
import { articles, MigratedFile } from '../support/migrated-file.js'

it('sluice-tools migrate makes its entries through the proxy of the environment', async () => {
  const server = await ContentServer.start()
  onTestFinished(() => server.close())
  const proxy = await startProxy(() => Number(new URL(server.options.url!).port))
  onTestFinished(() => proxy.close())
  const variables = {
    SLUICE_URL: 'http://service.example',
    SLUICE_ALLOW_INSECURE: '1',
    SLUICE_API_KEY: server.apiKey,
    HTTP_PROXY: proxy.url,
  }
  const file = new MigratedFile(variables, articles(3))
  expect(await file.run()).toMatchObject({ code: 0 })
  expect(server.entries).toHaveLength(3)
  expect(proxy.asked).toHaveLength(3)
})
