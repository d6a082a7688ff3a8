import { writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { ApiError, type ContentClient, type ContentOptions, contentType, createContentClient } from 'sluice/content'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FaultServer } from '../faults/fault-server.js'
import { articleType, type ContentFault, ContentServer } from '../support/content-server.js'
import { runProgram } from '../support/programs.js'

const article = contentType<{ title: string; body?: string }>('article')
const hello = { type: article, fields: { title: 'Hello' } }

let server: ContentServer
let client: ContentClient
const connect = (options: ContentOptions = {}) =>
  createContentClient({ ...server.options, retryBaseMs: 2, retryCapMs: 5, requestTimeoutMs: 2000, ...options })
beforeEach(async () => {
  server = await ContentServer.start()
  client = connect()
})
afterEach(async () => {
  await client.close()
  await server.close()
})

/** The error of an operation that must fail. */
async function errorOf(operation: Promise<unknown>): Promise<ApiError> {
  const error = await operation.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  )
  if (error instanceof ApiError) return error
  throw error
}

/** Fault for the first requests, then none. */
const atFirst =
  (...faults: ContentFault[]) =>
  ({ number }: { number: number }) =>
    faults[number]

/** A port on which nobody listens. */
async function closedPort(): Promise<number> {
  const listener = createServer()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as { port: number }
  await new Promise((resolve) => listener.close(resolve))
  return port
}

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

  it('refuses a Date that is none, which JSON would turn into null', async () => {
    const createdAt = new Date('yesterday')
    await expect(client.migrateEntry('demo', { ...hello, createdAt })).rejects.toThrow(TypeError)
    expect(server.requests).toEqual([])
  })

  it('archives a content type and gives its id', async () => {
    expect(await client.deleteContentType('demo', { key: 'article' })).toBe('type_1')
    expect(await errorOf(client.createEntry('demo', hello))).toMatchObject({ code: 'not-found', status: 404 })
  })

  it('goes through all content types, page by page as they are asked for', async () => {
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

  it('goes through no content types where there are none', async () => {
    server.fault = () => ({ status: 200, body: '{"total":0,"list":[]}' })
    for await (const type of client.listContentTypes('demo')) throw new Error(type.key)
  })

  it('does not take a list that ends before its end for the whole', async () => {
    server.fault = () => ({ status: 200, body: '{"total":3,"list":[]}' })
    const walk = async () => {
      for await (const type of client.listContentTypes('demo')) throw new Error(type.key)
    }
    expect(await errorOf(walk())).toMatchObject({ code: 'unreadable-answer' })
  })

  it.each([{ from: 0 }, { to: 0 }, { from: 1.5 }])('does not ask for a page of %j', async (bounds) => {
    await expect(client.listContentTypes('demo').page(bounds)).rejects.toThrow(TypeError)
    expect(server.requests).toEqual([])
  })

  it('writes each name into one segment of the path, whatever is in it', async () => {
    await errorOf(client.createEntry('a/b?c', { type: '../x y', fields: {} }))
    await errorOf(client.deleteContentType('ü', { key: 'k#1' }))
    await errorOf(client.listContentTypes('a%2Fb').page())
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/ng-cms/content/a%2Fb%3Fc/..%2Fx%20y',
      '/ng-cms/content-types/%C3%BC/k%231',
      '/ng-cms/content-types/a%252Fb?from=1&to=20',
    ])
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

describe('a program', () => {
  it('waits for its answer, and ends by itself though nothing was closed', async () => {
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    server.fault = () => {
      setImmediate(answer)
      return held
    }
    expect(await runProgram('content-natural-end.js', server.variables)).toMatchObject({ code: 0, stdout: 'entry_1' })
  })
})

describe('a request', () => {
  const all = async () => {
    await client.listContentTypes('demo').page()
    await client.createEntry('demo', hello)
    await client.migrateEntry('demo', hello)
    await client.deleteContentType('demo', { key: 'article' })
    return server.requests.map(({ headers }) => headers)
  }

  it('says what it accepts, what it brings, who sends it, and for writes which one it is', async () => {
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

  it('carries the idempotency key that the caller gives', async () => {
    await client.createEntry('demo', { ...hello, idempotencyKey: 'mine-1' })
    expect(server.requests[0]?.headers).toMatchObject({ 'idempotency-key': 'mine-1' })
  })

  const scheme = (headers: Record<string, unknown> | undefined) => [headers?.['x-api-key'], headers?.authorization]
  const key = ['content-api-key', undefined]
  const token = [undefined, 'Bearer content-access-token']

  it('uses the scheme with which the API shows the operation', async () => {
    expect((await all()).map(scheme)).toEqual([key, key, token, token])
  })

  it('uses the other scheme when only that is configured', async () => {
    client = connect({ accessToken: undefined })
    expect((await all()).map(scheme)).toEqual([key, key, key, key])
    await server.close()
    server = await ContentServer.start()
    client = connect({ apiKey: undefined })
    expect((await all()).map(scheme)).toEqual([token, token, token, token])
  })
})

describe('a failure', () => {
  const answer = (status: number, body: unknown = '', headers: Record<string, string> = {}): ContentFault => ({
    status,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers,
  })
  const detail = { correlationId: 'c-42', message: 'no room', stack: 'at …' }

  it.each<[string, ContentFault, Partial<ApiError>]>([
    [
      '400',
      answer(400, { isValid: false, validationErrors: [{ name: 'title', attemptedValue: 7, message: 'is no text' }] }),
      {
        code: 'validation-failed',
        status: 400,
        validationErrors: [{ name: 'title', attemptedValue: 7, message: 'is no text' }],
      },
    ],
    ['401', answer(401), { code: 'unauthorized', status: 401 }],
    [
      '401 with details',
      answer(401, { success: false, errors: [detail] }),
      { code: 'unauthorized', correlationId: 'c-42' },
    ],
    ['403', answer(403), { code: 'unauthorized', status: 403 }],
    ['404', answer(404, '<html>'), { code: 'not-found', status: 404 }],
    ['412', answer(412, 'null'), { code: 'plan-required', status: 412 }],
    ['409', answer(409), { code: 'refused', status: 409 }],
    ['429', answer(429, '', { 'retry-after': '7' }), { code: 'too-many-requests', retryAfterMs: 7000 }],
    [
      '500',
      answer(500, { success: false, errors: [detail] }),
      { code: 'server-error', status: 500, correlationId: 'c-42' },
    ],
    [
      '500 with a header',
      answer(500, '', { 'x-correlation-id': 'h-1' }),
      { code: 'server-error', correlationId: 'h-1' },
    ],
    [
      '201 that reports errors',
      answer(201, { success: false, errors: [detail] }),
      { code: 'server-error', status: 201 },
    ],
    ['201 without a result', answer(201, { success: true }), { code: 'unreadable-answer', status: 201 }],
    ['201 that is not JSON', answer(201, '<html>'), { code: 'unreadable-answer', status: 201 }],
    ['201 that breaks off', 'half-answer', { code: 'unreadable-answer', status: 201 }],
    ['301', answer(301, '', { location: 'https://elsewhere.example/' }), { code: 'redirected', status: 301 }],
    ['a reset before the answer', 'reset-before', { code: 'no-answer', status: undefined }],
    ['a reset after the work', 'reset-after', { code: 'no-answer', status: undefined }],
  ])('of a write, %s, is an ApiError, after one request', async (_, fault, expected) => {
    server.fault = () => fault
    const error = await errorOf(client.createEntry('demo', hello))
    expect(error).toMatchObject({ name: 'ApiError', validationErrors: [], ...expected })
    expect(error.message).toContain('create entry of article in demo: ')
    expect(server.requests).toHaveLength(1)
  })

  it('says in its message what the service says, and what can be done', async () => {
    const message = async (fault: ContentFault) => {
      server.fault = () => fault
      return (await errorOf(client.deleteContentType('demo', { key: 'x' }))).message
    }
    const validationErrors = [{ name: 'key', attemptedValue: 'x', message: 'unknown' }]
    expect(await message(answer(400, { isValid: false, validationErrors }))).toContain('key: unknown')
    expect(await message(answer(500, { success: false, errors: [detail] }))).toContain('no room')
    expect(await message(answer(401))).toContain('SLUICE_ACCESS_TOKEN')
    expect(await message(answer(307, '', { location: 'https://elsewhere.example/' }))).toContain(
      'https://elsewhere.example/ (307), which is not followed',
    )
  })

  it('of a write that took too long is told as such', async () => {
    server.fault = () => 'silence'
    client = connect({ requestTimeoutMs: 50 })
    expect(await errorOf(client.createEntry('demo', hello))).toMatchObject({
      code: 'no-answer',
      message: expect.stringContaining('no answer within 50 ms'),
    })
    expect(server.requests).toHaveLength(1)
  })

  it.each<[string, ContentFault]>([
    ['408', answer(408)],
    ['425', answer(425)],
    ['429', answer(429)],
    ['500', answer(500)],
    ['503', answer(503)],
    ['a reset before the answer', 'reset-before'],
    ['an answer that breaks off', 'half-answer'],
  ])('of a read, %s, is passing: it is read again', async (_, fault) => {
    server.fault = atFirst(fault, fault)
    expect(await client.listContentTypes('demo').page()).toMatchObject({ total: 1 })
    expect(server.requests).toHaveLength(3)
  })

  it('of a read that does not pass is told after five attempts', async () => {
    server.fault = () => answer(503)
    expect(await errorOf(client.listContentTypes('demo').page())).toMatchObject({ code: 'server-error', status: 503 })
    expect(server.requests).toHaveLength(5)
  })

  it.each([400, 401, 404, 412])('of a read with %i is told at once', async (status) => {
    server.fault = () => answer(status)
    expect((await errorOf(client.listContentTypes('demo').page())).status).toBe(status)
    expect(server.requests).toHaveLength(1)
  })

  it('honours Retry-After, and does not wait when it asks for more than a minute', async () => {
    server.fault = atFirst(answer(503, '', { 'retry-after': '1' }))
    const startedAt = performance.now()
    await client.listContentTypes('demo').page()
    expect(performance.now() - startedAt).toBeGreaterThan(950)
    server.fault = () => answer(503, '', { 'retry-after': '61' })
    expect(await errorOf(client.listContentTypes('demo').page())).toMatchObject({ retryAfterMs: 61_000 })
    expect(server.requests).toHaveLength(3)
  })

  it('to connect is tried again, for a write too, and told after five attempts', async () => {
    const port = await closedPort()
    client = connect({ url: `http://127.0.0.1:${port}` })
    const error = await errorOf(client.createEntry('demo', hello))
    expect(error).toMatchObject({ code: 'unsent', status: undefined, message: expect.stringContaining('ECONNREFUSED') })

    // A write that was never sent is sent when the service is there again.
    client = connect({ url: `http://127.0.0.1:${port}`, retryBaseMs: 200, retryCapMs: 1000 })
    const created = client.createEntry('demo', hello)
    let connections = 0
    const late = createServer((socket) => {
      connections++
      socket.once('data', () => socket.end('HTTP/1.1 201 Created\r\ncontent-length: 14\r\n\r\n{"result":"a"}'))
    })
    await new Promise<void>((resolve) => setImmediate(() => late.listen(port, '127.0.0.1', resolve)))
    expect(await created).toBe('a')
    expect(connections).toBe(1)
    await new Promise((resolve) => late.close(resolve))
  })
})

describe('a failure of TLS', () => {
  it('means that nothing was sent', async () => {
    const impostor = await FaultServer.start(undefined, { certificate: 'foreign' })
    client = connect({ url: impostor.url })
    const error = await errorOf(client.createEntry('demo', hello))
    expect(error).toMatchObject({ code: 'unsent', message: expect.stringContaining('self-signed') })
    expect(impostor.requests).toEqual([])
    await impostor.close()
  })
})

describe('an abort signal', () => {
  it('that has come before ends an operation before it begins', async () => {
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

describe('the key and the token', () => {
  const shown = (value: unknown) => inspect(value, { depth: 12, showHidden: true }) + JSON.stringify(value)

  it('are nowhere to be seen, though the service repeats them', async () => {
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
    // A write is not repeated behind its caller's back.
    expect(await errorOf(writer.createEntry('demo', hello))).toMatchObject({ code: 'unauthorized' })
    expect(await writer.createEntry('demo', hello)).toBe('entry_1')
    expect(server.requests).toHaveLength(4)
  })
})

describe('options that cannot be used', () => {
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
