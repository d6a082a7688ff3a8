import { runInNewContext } from 'node:vm'
import { type ContentClient, type ContentOptions, contentType, createContentClient } from 'sluice/content'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { article, connectTo, errorOf, hello } from '../support/content-client.js'
import { articleType, ContentServer } from '../support/content-server.js'

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

describe('the content client', () => {
  it('makes an entry and gives its id', async () => {
    expect(await client.createEntry('demo', hello)).toBe('entry_1')
    expect(server.entries).toEqual([{ id: 'entry_1', type: 'article', fields: { title: 'Hello' } }])
  })

  it('migrates an entry with the times that it has, as Date or as text', async () => {
    const times = { createdAt: new Date(0), updatedAt: '2020-02-02T00:00:00Z' }
    expect(await client.migrateEntry('demo', { ...hello, ...times })).toBe('entry_1')
    expect(server.entries).toEqual([
      {
        id: 'entry_1',
        type: 'article',
        fields: { title: 'Hello' },
        createdAt: '1970-01-01T00:00:00.000Z',
        updatedAt: '2020-02-02T00:00:00Z',
      },
    ])
  })

  it.each([
    ['an invalid Date', new Date('yesterday')],
    ['one of another realm', runInNewContext('new Date(NaN)')],
  ])('refuses %s, which JSON would turn into null', async (_, createdAt: Date) => {
    await expect(client.migrateEntry('demo', { ...hello, createdAt })).rejects.toThrow(TypeError)
    expect(server.requests).toEqual([])
  })

  it('migrates an entry to another content type than the path has', async () => {
    await client.migrateEntry('demo', { ...hello, contentTypeKey: 'note' })
    expect(JSON.parse(server.requests[0]!.body)).toEqual({ fields: { title: 'Hello' }, contentTypeKey: 'note' })
    await expect(client.migrateEntry('demo', { ...hello, contentTypeKey: '' })).rejects.toThrow(
      'contentTypeKey: expected a key or id, got ""',
    )
  })

  it('archives a content type and gives its id', async () => {
    expect(await client.deleteContentType('demo', { key: 'article' })).toBe('type_1')
    expect(await errorOf(client.createEntry('demo', hello))).toMatchObject({ code: 'not-found', status: 404 })
  })

  it('iterates over all content types, page by page when needed', async () => {
    await server.close()
    const types = Array.from({ length: 45 }, (_, index) => articleType({ key: `type-${index + 1}` }))
    server = await ContentServer.start({ types })
    client = connect()
    const keys: string[] = []
    for await (const { key } of client.listContentTypes('demo')) {
      keys.push(key)
      expect(server.requests).toHaveLength(Math.ceil(keys.length / 20))
    }
    expect(keys).toEqual(types.map(({ key }) => key))
    expect(server.requests.map(({ path }) => path.split('?')[1])).toEqual([
      'from=1&to=20',
      'from=21&to=20',
      'from=41&to=20',
    ])
    const page = await client.listContentTypes('demo').page({ from: 44, to: 5 })
    expect(page).toMatchObject({ total: 45, list: [{ key: 'type-44' }, { key: 'type-45' }] })
  })

  it('iterates over nothing in a project without content types', async () => {
    server.fault = () => ({ status: 200, body: '{"total":0,"list":[]}' })
    for await (const type of client.listContentTypes('demo')) throw new Error(type.key)
  })

  it('does not take an incomplete list for the whole', async () => {
    server.fault = () => ({ status: 200, body: '{"total":3,"list":[]}' })
    const walk = async () => {
      for await (const type of client.listContentTypes('demo')) throw new Error(type.key)
    }
    expect(await errorOf(walk())).toMatchObject({ code: 'unreadable-answer' })
  })

  it.each([{ from: 0 }, { to: 0 }, { from: 1.5 }])('refuses a page of %j', async (bounds) => {
    await expect(client.listContentTypes('demo').page(bounds)).rejects.toThrow(TypeError)
    expect(server.requests).toEqual([])
  })

  it('writes each name into one segment of the path, whatever it contains', async () => {
    await errorOf(client.createEntry('a/b?c', { type: '../x y', fields: {} }))
    await errorOf(client.deleteContentType('ü', { key: 'k#1' }))
    await errorOf(client.listContentTypes('a%2Fb').page())
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/ng-cms/content/a%2Fb%3Fc/..%2Fx%20y',
      '/ng-cms/content-types/%C3%BC/k%231',
      '/ng-cms/content-types/a%252Fb?from=1&to=20',
    ])
  })

  it('refuses an idempotency key that no header can hold, at once', async () => {
    for (const idempotencyKey of ['', 'a\nb', 'é', 'a b']) {
      const created = client.createEntry('demo', { ...hello, idempotencyKey })
      await expect(created).rejects.toThrow(/^idempotencyKey: expected a text of visible ASCII characters, got "/)
    }
    expect(server.requests).toEqual([])
  })

  it('names missing arguments in programs without types', async () => {
    const untyped = client as unknown as Record<string, (...written: unknown[]) => Promise<unknown>>
    await expect(untyped.createEntry!('demo', { fields: {} })).rejects.toThrow('type: expected a name, got ""')
    await expect(untyped.createEntry!(undefined, hello)).rejects.toThrow('project: expected a name, got undefined')
    await expect(untyped.deleteContentType!('demo', {})).rejects.toThrow('key: expected a name, got undefined')
    const page = client.listContentTypes('demo').page({ from: '1' } as unknown as { from: number })
    await expect(page).rejects.toThrow('from: expected a whole number from 1, got "1"')
    expect(server.requests).toEqual([])
  })

  it.each(['', '.', '..', 'a\ud800'])('refuses the name %j, which no path can hold', async (name) => {
    await expect(client.createEntry(name, hello)).rejects.toThrow(TypeError)
    await expect(client.createEntry('demo', { ...hello, type: name })).rejects.toThrow(TypeError)
    expect(server.requests).toEqual([])
  })

  it('keeps the path of the base URL', async () => {
    client = connect({ url: `${server.url}/base/` })
    await errorOf(client.createEntry('demo', hello))
    expect(server.requests[0]?.path).toBe('/base/ng-cms/content/demo/article')
  })
})

describe('the types of an entry', () => {
  /** Never called: the compiler is the test, in the gate’s step "types". */
  const compiled = async () => {
    await client.createEntry('demo', { type: article, fields: { title: 'a', body: 'b' } })
    // @ts-expect-error: there is no field of this name
    await client.createEntry('demo', { type: article, fields: { title: 'a', titel: 'b' } })
    // @ts-expect-error: a title is a text
    await client.createEntry('demo', { type: article, fields: { title: 1 } })
    // @ts-expect-error: a title is required
    await client.migrateEntry('demo', { type: article, fields: { body: 'b' } })
    // @ts-expect-error: a time is a Date or a text
    await client.migrateEntry('demo', { type: article, fields: { title: 'a' }, createdAt: 0 })
    // @ts-expect-error: a type for other fields
    await client.createEntry<{ name: string }>('demo', { type: article, fields: { name: 'a' } })
    await client.createEntry('demo', { type: 'article', fields: { whatever: [1] } })
    interface Named {
      name: string
    }
    await client.createEntry('demo', { type: contentType<Named>('named'), fields: { name: 'a' } })
    // @ts-expect-error: options that only lanes have
    createContentClient({ bucket: 'demo' })
  }

  it('are checked by the compiler', () => {
    expect(compiled).toBeTypeOf('function')
    expect(contentType('article')).toEqual({ key: 'article' })
    expect(() => contentType('')).toThrow(TypeError)
  })
})
