import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { log, startReceiverForTest } from '../support.js'
import { ways } from './assistant.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeAll(async () => {
  receiver = await startReceiverForTest()
  await receiver.call('POST', '/logs/demo', log)
})
afterAll(() => receiver.close())

async function keyOf(wanted: object): Promise<string> {
  const { body } = await receiver.call('POST', '/api/keys', wanted)
  return body.key
}

const initialize = (protocolVersion: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'editor', version: '1' } },
})
const search = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'search_logs', arguments: {} } }

describe('POST /mcp', () => {
  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('speaks the protocol of %s', async (version) => {
    const { status, headers, body } = await receiver.call('POST', '/mcp', initialize(version))
    expect(status).toBe(200)
    expect(headers.get('content-type')).toContain('application/json')
    expect(headers.get('mcp-session-id')).toBeNull()
    expect(body).toMatchObject({ id: 1, result: { protocolVersion: version, serverInfo: { name: 'sluice-receiver' } } })
    const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
    expect(await receiver.call('POST', '/mcp', initialized)).toMatchObject({ status: 202, body: undefined })
    const found = await receiver.call('POST', '/mcp', search, { 'mcp-protocol-version': version })
    expect(found.body.result.content[0].text).toContain('info shop "hello"')
  })

  it('answers no stream of changes, for nothing changes', async () => {
    const listening = ways['HTTP, of 2026'](receiver)
    const { client, close } = await listening
    await expect(client.listen({ toolsListChanged: true })).rejects.toThrow()
    await close.call(await listening)
  })

  it('has no sessions and no streams: GET and DELETE are answered with 405', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { status, headers } = await receiver.call(method, '/mcp')
      expect([status, headers.get('allow')]).toEqual([405, 'POST'])
    }
  })

  it('needs a key with the scope read', async () => {
    const missing = await fetch(`${receiver.url}/mcp`, { method: 'POST' })
    expect(missing.status).toBe(401)
    const wrong = await receiver.call('POST', '/mcp', search, { 'x-api-key': 'slk_wrong' })
    expect(wrong.status).toBe(401)
    const ingest = await receiver.call('POST', '/mcp', search, { 'x-api-key': await keyOf({ scopes: ['ingest'] }) })
    expect(ingest).toMatchObject({
      status: 403,
      body: { errors: [{ message: expect.stringContaining('scope read') }] },
    })
    const read = await receiver.call('POST', '/mcp', search, { 'x-api-key': await keyOf({ scopes: ['read'] }) })
    expect(read.body.result.isError).toBeUndefined()
  })

  it('shows a key that is bound to a project what is its own', async () => {
    await receiver.call('POST', '/api/projects', { id: 'other' })
    await receiver.call('POST', '/logs/other', { ...log, message: 'of the other' })
    const assistant = await ways['HTTP, of 2025']({
      url: receiver.url,
      apiKey: await keyOf({ scopes: ['read'], projects: ['other'] }),
    })
    expect((await assistant.lines('search_logs'))[1]).toContain('"of the other"')
    expect(await assistant.ask('search_logs', { bucket: 'demo' })).toMatchObject({
      text: 'the receiver refuses (403): the API key does not hold for project demo; it holds for other',
      isError: true,
    })
    await assistant.close()
  })

  it('refuses a page of another site', async () => {
    const { status } = await receiver.call('POST', '/mcp', search, { origin: 'https://elsewhere.example' })
    expect(status).toBe(403)
    expect((await receiver.call('POST', '/mcp', search, { origin: receiver.url })).status).toBe(200)
  })

  it.each([
    ['{', {}, 400, -32_700, 'body is not JSON'],
    ['', {}, 400, -32_700, ''],
    [JSON.stringify('x'.repeat(1_100_000)), {}, 413, -32_000, 'must not have more than 1048576 bytes'],
    ['{}', { 'content-type': 'text/plain' }, 415, -32_000, 'application/json'],
    ['{}', {}, 400, -32_600, 'not a valid JSON-RPC message'],
    ['{"jsonrpc":"2.0","id":1,"method":"nope"}', {}, 200, -32_601, 'Method not found'],
  ])('answers what is no request: %#', async (body, headers, status, code, message) => {
    expect(await receiver.call('POST', '/mcp', body, headers)).toMatchObject({
      status,
      body: { jsonrpc: '2.0', error: { code, message: expect.stringContaining(message) } },
    })
  })
})
