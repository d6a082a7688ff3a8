import { type ContentClient, contentType } from 'sluice/content'
import { startReceiver } from 'sluice-receiver'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { article, closedPort, connectTo, errorOf, hello } from '../support/content-client.js'
import { ContentServer } from '../support/content-server.js'
import { full } from '../support/full.js'
import { startTestReceiver, type TestReceiver } from '../support/receiver.js'
import { ReceiverContent } from '../support/receiver-content.js'

let receiver: TestReceiver
let content: ReceiverContent
let client: ContentClient
beforeEach(async () => {
  receiver = await startTestReceiver()
  content = new ReceiverContent(receiver)
  await content.makeType('article')
  client = connectTo({ url: receiver.url, apiKey: receiver.apiKey })
})
afterEach(async () => {
  await client.close()
  await receiver.close()
})

describe('the content client and the receiver', () => {
  it('make an entry: a draft with these fields, as of now', async () => {
    const before = Date.now()
    const id = await client.createEntry('demo', { type: article, fields: { title: 'Hello', body: '<p>world</p>' } })
    const [entry, ...others] = await content.entries('article')
    expect(others).toEqual([])
    expect(entry).toMatchObject({ id, state: 'Draft', fields: { title: 'Hello', body: '<p>world</p>' } })
    expect(Date.parse(entry!.createdAt)).toBeGreaterThanOrEqual(before)
  })

  it('migrate an entry with the times that it has', async () => {
    const times = {
      createdAt: new Date(0),
      updatedAt: '2020-02-02T00:00:00Z',
      publishedAt: '2021-03-03T00:00:00.123456Z',
    }
    const id = await client.migrateEntry('demo', { ...hello, ...times })
    expect(await content.entries('article')).toMatchObject([
      { id, state: 'Published', fields: { title: 'Hello' }, ...times, createdAt: '1970-01-01T00:00:00.000Z' },
    ])
  })

  it('list content types, page by page or one page', async () => {
    for (let number = 2; number <= 45; number++) await content.makeType(`type-${number}`)
    const keys: string[] = []
    for await (const { key, schema, isActive } of client.listContentTypes('demo')) {
      expect({ fields: schema.length, isActive }).toEqual({ fields: 2, isActive: true })
      keys.push(key)
    }
    expect(keys).toEqual(['article', ...Array.from({ length: 44 }, (_, index) => `type-${index + 2}`)])
    const { total, list } = await client.listContentTypes('demo').page({ from: 44, to: 5 })
    expect({ total, keys: list.map(({ key }) => key) }).toEqual({ total: 45, keys: ['type-44', 'type-45'] })
    expect((await client.listContentTypes('demo').page()).list).toHaveLength(20)
  })

  it('list every content type while the loop archives them', async () => {
    for (let number = 2; number <= 45; number++) await content.makeType(`type-${number}`)
    const keys: string[] = []
    for await (const { key } of client.listContentTypes('demo')) {
      keys.push(key)
      await client.deleteContentType('demo', { key })
    }
    expect(new Set(keys).size).toBe(45)
    expect(keys).toHaveLength(45)
    expect((await client.listContentTypes('demo').page()).total).toBe(0)
  })

  it.each(['id', 'key'] as const)('archive a content type by its %s', async (by) => {
    const { id, key } = await content.makeType('page')
    expect(await client.deleteContentType('demo', { key: { id, key }[by] })).toBe(id)
    expect((await client.listContentTypes('demo').page()).list.map((type) => type.key)).toEqual(['article'])
    const entry = client.createEntry('demo', { type: 'page', fields: { title: 'x' } })
    expect(await errorOf(entry)).toMatchObject({ code: 'not-found', status: 404 })
  })

  it('authenticate by key and by token, on every operation', async () => {
    for (const credentials of [{ apiKey: receiver.apiKey }, { accessToken: receiver.apiKey }]) {
      const each = connectTo({ url: receiver.url, ...credentials })
      await content.makeType('page')
      expect((await each.listContentTypes('demo').page()).total).toBe(2)
      await each.createEntry('demo', hello)
      await each.migrateEntry('demo', hello)
      await each.deleteContentType('demo', { key: 'page' })
      await each.close()
    }
  })
})

describe('a request that the receiver refuses', () => {
  it('is validation-failed with one element for each failure', async () => {
    const fields = { titel: 'x', body: '<script>' }
    const error = await errorOf(client.createEntry('demo', { type: contentType<typeof fields>('article'), fields }))
    expect(error).toMatchObject({ code: 'validation-failed', status: 400, correlationId: expect.any(String) })
    const names = error.validationErrors.map(({ name, attemptedValue }) => [name, attemptedValue])
    expect(names).toEqual([
      ['title', null],
      ['titel', 'x'],
      ['body', '<script>'],
    ])
    for (const { message } of error.validationErrors) expect(error.message).toContain(message)
    expect(await errorOf(client.migrateEntry('demo', { ...hello, createdAt: 'yesterday' }))).toMatchObject({
      code: 'validation-failed',
      validationErrors: [{ name: 'createdAt', attemptedValue: 'yesterday' }],
    })
  })

  const operations: Readonly<Record<string, (project: string) => Promise<unknown>>> = {
    list: (project) => client.listContentTypes(project).page(),
    delete: (project) => client.deleteContentType(project, { key: 'article' }),
    create: (project) => client.createEntry(project, hello),
    migrate: (project) => client.migrateEntry(project, hello),
  }

  it.each(Object.entries(operations))('is unauthorized with a wrong key, to %s', async (_, operation) => {
    client = connectTo({ url: receiver.url, apiKey: 'wrong-key' })
    const error = await errorOf(operation('demo'))
    expect(error).toMatchObject({ code: 'unauthorized', status: 401, correlationId: expect.any(String) })
  })

  it.each(Object.entries(operations))('is not-found in a project that is not there, to %s', async (_, operation) => {
    expect(await errorOf(operation('nowhere'))).toMatchObject({ code: 'not-found', status: 404 })
  })

  it.each(['list', 'delete', 'create'])('is plan-required where the plan has no content, to %s', async (name) => {
    await content.setPlan(false)
    expect(await errorOf(operations[name]!('demo'))).toMatchObject({ code: 'plan-required', status: 412 })
  })

  it('is no migration for the plan', async () => {
    await content.setPlan(false)
    expect(await client.migrateEntry('demo', hello)).toMatch(/./)
  })

  it('as too large is refused, and the connection serves the next', async () => {
    const body = 'x'.repeat(2_000_000)
    const error = await errorOf(client.createEntry('demo', { type: article, fields: { title: 'a', body } }))
    expect(error).toMatchObject({ code: 'refused', status: 413 })
    expect(await client.createEntry('demo', hello)).toMatch(/./)
  })
})

describe('between the content client and the receiver', () => {
  it('a lost answer leaves one entry; the same idempotency key again gives its id', async () => {
    const { url, apiKey } = receiver
    const server = await ContentServer.start({ behind: url, apiKey, accessToken: apiKey })
    client = connectTo(server.options)
    server.fault = ({ number }) => (number === 0 ? 'reset-after' : undefined)
    const entry = { ...hello, idempotencyKey: 'import-7' }
    expect(await errorOf(client.createEntry('demo', entry))).toMatchObject({ code: 'no-answer' })
    const entries = await content.entries('article')
    expect(entries).toHaveLength(1)
    expect(await client.createEntry('demo', entry)).toBe(entries[0]!.id)
    expect(await content.entries('article')).toHaveLength(1)
    expect(server.requests).toHaveLength(2)
    await server.close()
  })

  it.runIf(full)('a refused connection is tried again until the receiver is there', async () => {
    const port = await closedPort()
    client = connectTo({ url: `http://127.0.0.1:${port}`, apiKey: 'any' }, { retryBaseMs: 2000, retryCapMs: 4000 })
    const listed = errorOf(client.listContentTypes('demo').page())
    const created = errorOf(client.createEntry('demo', hello))
    const late = await startReceiver({ port, data: ':memory:' })
    // It has another key: its refusal shows that the request has arrived.
    for (const error of [await listed, await created]) expect(error).toMatchObject({ code: 'unauthorized' })
    await late.close()
  })
})
