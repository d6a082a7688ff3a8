import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import type { Outcome, Sender } from '../../src/delivery/sender.js'
import { PipelinedSender } from '../../src/http/pipelined-sender.js'
import { UndiciSender } from '../../src/http/undici-sender.js'
import { systemLoop } from '../../src/runtime/loop.js'
import { sendRecords } from '../support/batch.js'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const senders = {
  undici: UndiciSender,
  pipelined: class extends PipelinedSender {
    constructor(plan: ConstructorParameters<typeof UndiciSender>[0]) {
      super({ ...plan, maxDepth: 64 })
    }
  },
}

async function post(sender: Sender, body = '{"a":1}'): Promise<Outcome> {
  const outcomes: Outcome[] = []
  const records = [{ body, bytes: Buffer.byteLength(body), idempotencyKey: 'key-1' }]
  await sendRecords(sender, {
    kind: 'logs',
    bucket: 'a b',
    records,
    settle: (_, outcome) => outcomes.push(outcome),
  })
  expect(outcomes).toHaveLength(1)
  return outcomes[0]!
}

const server = (answer: (request: IncomingMessage, response: ServerResponse) => void) => listen(createServer(answer))

describe.each(['undici', 'pipelined'] as const)('the %s sender', (name) => {
  function senderTo(url: string, { requestTimeoutMs = 2000 } = {}): Sender {
    const sender = new senders[name]({
      url,
      apiKey: { reveal: () => 'the-key', renew: () => false },
      userAgent: 'sluice/test',
      maxConnections: 4,
      requestTimeoutMs,
      loop: systemLoop,
    })
    cleanUps.push(() => sender.close())
    return sender
  }

  it('posts one record per request, with every header of the contract', async () => {
    let seen: IncomingMessage | undefined
    let body = ''
    const url = await server((request, response) => {
      seen = request
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => response.writeHead(201).end('{"result":true}'))
    })
    expect(await post(senderTo(`${url}/base`))).toEqual({ type: 'delivered' })
    expect(body).toBe('{"a":1}')
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/base/logs/a%20b',
      headers: {
        'x-api-key': 'the-key',
        'content-type': 'application/json',
        accept: 'application/json',
        'user-agent': 'sluice/test',
        'idempotency-key': 'key-1',
      },
    })
  })

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['deflate, gzip', (body: string) => gzipSync(deflateSync(body))],
    ['Identity', (body: string) => Buffer.from(body)],
  ])('reads an answer that something on the way has compressed: %s', async (coding, compress) => {
    let [status, body] = [201, '{"result":true}']
    const url = await server((_, response) => {
      response.writeHead(status, { 'content-encoding': coding }).end(compress(body))
    })
    const sender = senderTo(url)
    for (let time = 0; time < 3; time++) expect(await post(sender)).toEqual({ type: 'delivered' })
    body = '{"result":false,"errors":["zu groß"]}'
    expect(await post(sender)).toMatchObject({ type: 'rejected', reason: expect.stringMatching(/: zu groß$/) })
    body = '<!doctype html><title>Log in</title>'
    expect(await post(sender)).toMatchObject({ type: 'pause', status: 201 })
    body = ''
    expect(await post(sender)).toEqual({ type: 'delivered' })
    status = 400
    body = JSON.stringify({ errors: ['no'], padding: ' '.repeat(10_000) })
    expect(await post(sender)).toMatchObject({ type: 'rejected', reason: expect.stringMatching(/: no$/) })
  })

  it.each([
    ['a coding that is not known', 'zstd', Buffer.from('28b52ffd20', 'hex')],
    ['bytes that are not in their coding', 'gzip', Buffer.from('28b52ffd20', 'hex')],
    ['a body that is too long when it is unpacked', 'gzip', gzipSync(' '.repeat(50_000_000))],
  ])('pauses for a success with %s', async (_, coding, body) => {
    const url = await server((_request, response) => response.writeHead(201, { 'content-encoding': coding }).end(body))
    expect(await post(senderTo(url))).toMatchObject({ type: 'pause', status: 201, scope: 'lane' })
  })

  it('reports a refused connection as unsent', async () => {
    const url = await server(() => {})
    for (const cleanUp of cleanUps.splice(0)) await cleanUp()
    expect(await post(senderTo(url))).toMatchObject({
      type: 'retry',
      exchange: 'unsent',
      reason: expect.stringContaining('ECONNREFUSED'),
    })
  })

  it('reports an unknown host as unsent', async () => {
    expect(await post(senderTo('http://nowhere.invalid'))).toMatchObject({ type: 'retry', exchange: 'unsent' })
  })

  it('reports a connection that breaks before the answer as ambiguous', async () => {
    const url = await listen(createTcpServer((socket) => socket.once('data', () => socket.destroy())))
    expect(await post(senderTo(url))).toMatchObject({ type: 'retry', exchange: 'ambiguous' })
  })

  it('does not count an interim answer', async () => {
    const url = await listen(
      createTcpServer((socket) =>
        socket.once('data', () => {
          socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n', () => setImmediate(() => socket.destroy()))
        }),
      ),
    )
    expect(await post(senderTo(url))).toMatchObject({ type: 'retry', exchange: 'ambiguous' })
  })

  it('reports a server that never answers as ambiguous back-pressure, in time', async () => {
    const url = await server(() => {})
    const outcome = await post(senderTo(url, { requestTimeoutMs: 100 }))
    expect(outcome).toMatchObject({ type: 'retry', exchange: 'ambiguous', backPressure: true })
  })

  it('counts an answer that came while the event loop was blocked for longer than the time-out', async () => {
    const url = await listen(
      createTcpServer((socket) =>
        socket.once('data', () => {
          socket.write('HTTP/1.1 201 Created\r\ncontent-length: 15\r\n\r\n{"result":true}')
          const blockedUntil = performance.now() + 300
          while (performance.now() < blockedUntil);
        }),
      ),
    )
    expect(await post(senderTo(url, { requestTimeoutMs: 100 }))).toEqual({ type: 'delivered' })
  })

  it('reads no more than 64 KiB of an answer', async () => {
    let written = 0
    let closed = () => {}
    const connectionClosed = new Promise<void>((resolve) => {
      closed = resolve
    })
    const url = await server((_, response) => {
      response.writeHead(201, { 'content-length': 50_000_000 })
      const chunk = Buffer.alloc(65_536, ' ')
      const write = () => {
        while (written < 50_000_000 && response.write(chunk)) written += chunk.length
      }
      response.on('drain', write).on('close', closed)
      write()
    })
    expect(await post(senderTo(url))).toEqual({ type: 'delivered' })
    await connectionClosed
    expect(written).toBeLessThan(20_000_000)
  })

  it('counts the status when the body breaks off', async () => {
    const url = await server((_, response) => {
      response.writeHead(201, { 'content-length': 100 })
      response.write('{"res', () => response.destroy())
    })
    expect(await post(senderTo(url))).toEqual({ type: 'delivered' })
  })

  it('gives every record its outcome, although the owner of the batch throws at the first', async () => {
    let answers = 0
    const url = await server((_, response) => response.writeHead(201).end(`{"n":${answers++}}`))
    const settled: number[] = []
    const records = [1, 2, 3].map((n) => ({ body: `${n}`, bytes: 1, idempotencyKey: `${n}` }))
    await sendRecords(senderTo(url), {
      kind: 'logs',
      bucket: 'b',
      records,
      settle: (index) => {
        settled.push(index)
        if (index === 0) throw new Error('the owner fails')
      },
    })
    expect(settled).toEqual([0, 1, 2])
  })

  it('reports a redirect as a pause and does not follow it', async () => {
    let requests = 0
    const url = await server((_, response) => {
      requests++
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    expect(await post(senderTo(url))).toMatchObject({ type: 'pause', status: 307 })
    expect(requests).toBe(1)
  })
})
