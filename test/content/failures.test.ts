import { createServer } from 'node:net'
import type { ApiError, ContentClient, ContentOptions } from 'sluice/content'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { atFirst, closedPort, connectTo, errorOf, hello } from '../support/content-client.js'
import { type ContentFault, ContentServer } from '../support/content-server.js'
import { FaultServer } from '../support/fault-server.js'

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
    [
      '400 with a value nested 30,000 deep',
      answer(
        400,
        `{"validationErrors":[{"name":"title","message":"no","attemptedValue":${'['.repeat(30_000)}${']'.repeat(30_000)}}]}`,
      ),
      {
        code: 'validation-failed',
        validationErrors: [{ name: 'title', attemptedValue: [[[[[['…']]]]]], message: 'no' }],
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
    ['a web page', answer(200, '<!doctype html>'), { code: 'not-the-service', status: 200 }],
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
    [
      '201 that finds the record invalid',
      answer(201, {
        isValid: false,
        result: null,
        validationErrors: [{ name: 'title', attemptedValue: 7, message: 'is no text' }],
      }),
      {
        code: 'validation-failed',
        status: 201,
        validationErrors: [{ name: 'title', attemptedValue: 7, message: 'is no text' }],
      },
    ],
    ['201 with errors as a text', answer(201, { errors: 'no room' }), { code: 'server-error', status: 201 }],
    ['201 without a result', answer(201, { success: true }), { code: 'unreadable-answer', status: 201 }],
    ['201 that is not JSON', answer(201, '<html>'), { code: 'not-the-service', status: 201 }],
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

  it('has in its message the words of the service and advice', async () => {
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

  it('of a write that timed out has its own code', async () => {
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

  it('of a read that fails each time is reported after five attempts', async () => {
    server.fault = () => answer(503)
    expect(await errorOf(client.listContentTypes('demo').page())).toMatchObject({ code: 'server-error', status: 503 })
    expect(server.requests).toHaveLength(5)
  })

  it.each([400, 401, 404, 412])('of a read with %i is reported at once', async (status) => {
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

  it('to connect is tried again, for a write too, and reported after five attempts', async () => {
    const port = await closedPort()
    client = connect({ url: `http://127.0.0.1:${port}` })
    const error = await errorOf(client.createEntry('demo', hello))
    expect(error).toMatchObject({ code: 'unsent', status: undefined, message: expect.stringContaining('ECONNREFUSED') })

    // A write that was never sent is sent when the service is back.
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
