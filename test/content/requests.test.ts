import { writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import type { ContentClient, ContentOptions } from 'sluice/content'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectTo, errorOf, hello } from '../support/content-client.js'
import { type ContentFault, ContentServer } from '../support/content-server.js'

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

describe('a request', () => {
  const all = async () => {
    await client.listContentTypes('demo').page()
    await client.createEntry('demo', hello)
    await client.migrateEntry('demo', hello)
    await client.deleteContentType('demo', { key: 'article' })
    return server.requests.map(({ headers }) => headers)
  }

  it('has the headers accept, content-type and user-agent, and idempotency-key for writes', async () => {
    const [listed, created, migrated, deleted] = await all()
    for (const headers of [listed, created, migrated, deleted]) {
      expect(headers).toMatchObject({
        accept: 'application/json',
        'user-agent': expect.stringMatching(/^sluice\/\d+\.\d+\.\d+ /),
      })
    }
    expect(listed).not.toHaveProperty('content-type')
    expect(listed).not.toHaveProperty('idempotency-key')
    expect(deleted).not.toHaveProperty('content-type')
    for (const headers of [created, migrated]) expect(headers).toMatchObject({ 'content-type': 'application/json' })
    const keys = [created, migrated, deleted].map((headers) => headers?.['idempotency-key'])
    expect(new Set(keys).size).toBe(3)
    for (const key of keys) expect(key).toMatch(/^\S{20,}$/)
  })

  it('has the idempotency key of the caller', async () => {
    await client.createEntry('demo', { ...hello, idempotencyKey: 'mine-1' })
    expect(server.requests[0]?.headers).toMatchObject({ 'idempotency-key': 'mine-1' })
  })

  const scheme = (headers: Record<string, unknown> | undefined) => [headers?.['x-api-key'], headers?.authorization]
  const key = ['content-api-key', undefined]
  const token = [undefined, 'Bearer content-access-token']

  it('uses the scheme with which the API shows the operation', async () => {
    expect((await all()).map(scheme)).toEqual([key, key, token, token])
  })

  it('uses the other scheme if only that is configured', async () => {
    client = connect({ accessToken: undefined })
    expect((await all()).map(scheme)).toEqual([key, key, key, key])
    await server.close()
    server = await ContentServer.start()
    client = connect({ apiKey: undefined })
    expect((await all()).map(scheme)).toEqual([token, token, token, token])
  })
})

describe('the key and the token', () => {
  const shown = (value: unknown) => inspect(value, { depth: 12, showHidden: true }) + JSON.stringify(value)

  it('are never shown, even if the service repeats them', async () => {
    const echo = {
      success: false,
      errors: [{ correlationId: 'c', message: 'bad content-access-token content-api-key' }],
    }
    const faults: ContentFault[] = [
      { status: 401, body: JSON.stringify(echo) },
      { status: 400, body: '{"validationErrors":[{"name":"title","attemptedValue":1,"message":"content-api-key"}]}' },
      { status: 307, headers: { location: 'https://elsewhere.example/content-access-token' } },
      'reset-before',
      'silence',
    ]
    client = connect({ requestTimeoutMs: 50 })
    for (const fault of faults) {
      server.fault = () => fault
      for (const operation of [
        client.createEntry('demo', hello),
        client.deleteContentType('demo', { key: 'article' }),
      ]) {
        const error = await errorOf(operation)
        expect(shown(error) + error.stack + shown(error.cause)).not.toMatch(/content-(api-key|access-token)/)
      }
    }
    expect(shown(client)).not.toMatch(/content-(api-key|access-token)/)
  })

  it('in files are read again when they were refused', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'sluice-')), 'key')
    writeFileSync(file, 'old-api-key')
    process.env.SLUICE_API_KEY_FILE = file
    const fromFile = () => connect({ apiKey: undefined, accessToken: undefined })
    const [reader, writer] = [fromFile(), fromFile()]
    delete process.env.SLUICE_API_KEY_FILE
    writeFileSync(file, server.apiKey)
    expect(await reader.listContentTypes('demo').page()).toMatchObject({ total: 1 })
    expect(server.requests).toHaveLength(2)
    // A write is never repeated without its caller.
    expect(await errorOf(writer.createEntry('demo', hello))).toMatchObject({ code: 'unauthorized' })
    expect(await writer.createEntry('demo', hello)).toBe('entry_1')
    expect(server.requests).toHaveLength(4)
  })
})

describe('invalid options', () => {
  it.each<[Record<string, unknown>, string]>([
    [{ url: 'elsewhere' }, 'option url: expected'],
    [{ url: 'http://api.example' }, 'unencrypted'],
    [{ accessToken: 'se cret' }, 'option accessToken: expected'],
    [{ apiKey: undefined, accessToken: undefined }, 'option apiKey is missing'],
    [{ requestTimeoutMs: 0 }, 'option requestTimeoutMs: expected'],
    [{ acessToken: 'x' }, 'did you mean accessToken?'],
  ])('%j are a ConfigError at once', (options, words) => {
    expect(() => connect(options as ContentOptions)).toThrow(expect.objectContaining({ name: 'ConfigError' }))
    expect(() => connect(options as ContentOptions)).toThrow(words)
  })
})

describe('requests side by side', () => {
  it('are as many as maxConnections; the others wait, and go when there is room', async () => {
    const narrow = connect({ maxConnections: 2 })
    let answer = () => {}
    const gate = new Promise<void>((resolve) => {
      answer = resolve
    })
    const two = new Promise<void>((resolve) => {
      server.fault = ({ number }) => {
        if (number === 1) resolve()
        return gate
      }
    })
    const abandoned = new AbortController()
    const entries = [1, 2, 3, 4].map((number) =>
      narrow.createEntry('demo', { ...hello, ...(number === 3 ? { signal: abandoned.signal } : {}) }),
    )
    await two
    // One that waits has not been sent, and is given up at once.
    abandoned.abort(new Error('enough'))
    await expect(entries[2]).rejects.toThrow('enough')
    expect(server.requests).toHaveLength(2)
    const closed = narrow.close()
    answer()
    expect((await Promise.allSettled(entries)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    await closed
    expect(server.requests).toHaveLength(3)
  })
})
