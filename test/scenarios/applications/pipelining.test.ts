import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { Delivery } from '../../../src/delivery/delivery.js'
import { openSender } from '../../../src/http/auto-sender.js'
import type { ConnectionOptions } from '../../../src/http/connector.js'
import { systemLoop } from '../../../src/runtime/loop.js'
import { type Fault, FaultServer, type Request } from '../../support/fault-server.js'
import { full, rowsOf } from '../../support/full.js'
import { nginxInstalled, startNginx } from '../../support/nginx.js'
import { silentObserver } from '../../support/observer.js'
import { startTestReceiver } from '../../support/receiver.js'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

interface Destination {
  readonly url: string
  readonly apiKey?: string
  readonly bucket?: string
  readonly connection?: ConnectionOptions
  readonly maxBatch?: number
}

/** A lane of values and one of logs to a destination, with the sender that `auto` chooses. */
function deliverTo({ url, apiKey = 'k', bucket = 'b', connection = {}, maxBatch = 64 }: Destination) {
  const left: string[] = []
  const bounds = { maxConnections: 64, maxBatch, requestTimeoutMs: 10_000 }
  const sender = openSender({
    url,
    apiKey: { reveal: () => apiKey, renew: () => false },
    userAgent: 'sluice/test',
    pipelining: 'auto',
    proxyUrl: undefined,
    connection,
    left: (reason) => left.push(reason),
    loop: systemLoop,
    ...bounds,
  })
  const delivery = new Delivery({
    lanes: [
      { kind: 'logs', bucket },
      { kind: 'values', bucket },
    ],
    sender,
    loop: systemLoop,
    random: Math.random,
    observer: silentObserver,
    limits: { maxQueueRecords: 1_000_000, maxQueueBytes: 2 ** 30 },
    retry: { baseMs: 20, capMs: 200 },
    probe: { baseMs: 30, capMs: 300 },
    keyPrefix: crypto.randomUUID(),
    lingerMs: 0,
    ...bounds,
  })
  cleanUps.push(() => delivery.close({ timeoutMs: 0 }))
  return { delivery, left }
}

const identity = { appName: 'pipelining', runtimeVersion: process.version, runtime: 1 }
const value = (eventId: number) => JSON.stringify({ timeStamp: Date.now(), eventId, ...identity })
const log = (number: number) =>
  JSON.stringify({ timeStamp: Date.now(), level: 'info', message: `line ${number} – grüß`, ...identity })

function accept(delivery: Delivery, count: number): void {
  for (let number = 0; number < count; number++) {
    delivery.accept(0, { body: log(number), severity: 3 })
    delivery.accept(1, { body: value(number), severity: 6 })
  }
}

const expectedEvents = (count: number) => Array.from({ length: count }, (_, number) => number)
const sorted = (numbers: number[]) => numbers.sort((a, b) => a - b)
const echoing = ({ headers }: Request): Fault => ({
  type: 'answer',
  status: 201,
  body: '{"result":true}',
  headers: { 'idempotency-key': headers.get('idempotency-key')! },
})
const eventOf = (body: string) => (JSON.parse(body) as { eventId?: number }).eventId
const ca = readFileSync(join(import.meta.dirname, '../../support/certificates/foreign.pem'))

async function listen(server: Server | HttpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => new Promise((resolve) => server.close(resolve)))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('pipelined records', () => {
  it('arrive at the receiver, each once, in both lanes', { timeout: 60_000 }, async () => {
    const receiver = await startTestReceiver()
    cleanUps.push(() => receiver.close())
    const { delivery, left } = deliverTo(receiver.options)
    accept(delivery, 3000)
    const ledger = await delivery.flush({ timeoutMs: 50_000 })
    expect(ledger).toMatchObject({ accepted: 6000, delivered: 6000, retries: 0 })
    expect(ledger.lanes.map(({ sender }) => sender)).toEqual(['pipelined', 'pipelined'])
    expect(Math.max(...ledger.lanes.map(({ depth }) => depth))).toBeGreaterThan(1)
    expect(sorted((await receiver.values()).map(({ eventId }) => eventId))).toEqual(expectedEvents(3000))
    expect(new Set((await receiver.logs()).map(({ message }) => message)).size).toBe(3000)
    expect(left).toEqual([])
  })

  it('arrive at a server of node:http, which answers in chunks, and closes a connection after 100', async () => {
    const bodies: string[] = []
    const server = createHttpServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (part) => {
        body += part
      })
      request.on('end', () => {
        bodies.push(body)
        response.statusCode = 201
        response.write('{"result":')
        response.end('true}')
      })
    })
    server.maxRequestsPerSocket = 100
    const { delivery, left } = deliverTo({ url: await listen(server) })
    accept(delivery, 3000)
    const ledger = await delivery.flush({ timeoutMs: 20_000 })
    expect(ledger).toMatchObject({ accepted: 6000, delivered: 6000 })
    const events = bodies.flatMap((body) => eventOf(body) ?? [])
    expect(sorted([...new Set(events)])).toEqual(expectedEvents(3000))
    expect(bodies.length - 6000).toBeLessThanOrEqual(ledger.ambiguousRetries)
    expect(ledger.lanes.map(({ sender, depth }) => [sender, depth > 1])).toEqual([
      ['pipelined', true],
      ['pipelined', false],
    ])
    expect(left).toEqual([])
    server.closeAllConnections()
  })

  // Node pauses its parser where the answers that wait are long, and over TLS it breaks the connection where the paused parser gets bytes.
  it.each(rowsOf([15, 1000, 20_000], (bytes) => bytes === 1000))(
    'arrive once at a server of node:https, whose answers have %i bytes',
    { timeout: 60_000 },
    async (bytes) => {
      const keys = new Set<unknown>()
      const broken: unknown[] = []
      let requests = 0
      const key = readFileSync(join(import.meta.dirname, '../../support/certificates/key.pem'))
      const server = createHttpsServer({ key, cert: ca }, (request, response) => {
        request.resume().on('end', () => {
          requests++
          const { 'idempotency-key': idempotencyKey } = request.headers
          keys.add(idempotencyKey)
          response.writeHead(201, { 'idempotency-key': idempotencyKey })
          response.end(`{"result":true}${' '.repeat(bytes - 15)}`)
        })
      })
      server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
        broken.push(error.code)
        socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
      })
      const url = (await listen(server)).replace('http:', 'https:')
      cleanUps.push(() => server.closeAllConnections())
      const { delivery, left } = deliverTo({ url, connection: { ca }, maxBatch: 256 })
      accept(delivery, 3000)
      const ledger = await delivery.flush({ timeoutMs: 50_000 })
      expect(broken).toEqual([])
      expect(ledger).toMatchObject({ accepted: 6000, delivered: 6000, retries: 0 })
      expect({ requests, different: keys.size }).toEqual({ requests: 6000, different: 6000 })
      for (const { sender, depth } of ledger.lanes)
        expect({ sender, deep: depth > 8 }).toEqual({ sender: 'pipelined', deep: true })
      expect(left).toEqual([])
    },
  )

  const unread = [
    { times: 1, body: '', delivered: 1500, rejected: 0 },
    { times: 2, body: '', delivered: 1500, rejected: 0 },
    { times: 2, body: '{"errors":[]}', delivered: 1499, rejected: 1 },
  ]

  it.each(rowsOf(unread, ({ times }) => times === 2))(
    'are asked again alone behind a 400 that ends their connection, which may come $times time(s) with $body',
    async ({ times, body: words, delivered, rejected }) => {
      const head = `HTTP/1.1 400 X\r\nconnection: close\r\ncontent-length: ${words.length}\r\n\r\n`
      const unreadable: Fault = { type: 'bytes', text: head + words, next: 'fin' }
      let left = times
      const isIt = ({ body }: { body: string }) => body.includes('"line 777 ')
      const server = await FaultServer.start((request) =>
        isIt(request) && left-- > 0 ? unreadable : { type: 'answer', status: 201 },
      )
      cleanUps.push(() => server.close())
      const { delivery } = deliverTo({ url: server.url })
      for (let number = 0; number < 1500; number++) delivery.accept(0, { body: log(number), severity: 3 })
      const ledger = await delivery.flush({ timeoutMs: 25_000 })
      expect(ledger).toMatchObject({ accepted: 1500, delivered, rejected })
      expect(server.requests.filter(isIt)).toHaveLength(times + delivered - 1499)
    },
  )

  it.runIf(full)('find depth where requests are worked on side by side', async () => {
    const server = await FaultServer.start((request) => ({ ...echoing(request), afterMs: 30 }) as Fault)
    cleanUps.push(() => server.close())
    const { delivery } = deliverTo({ url: server.url })
    accept(delivery, 5000)
    const { lanes, delivered } = await delivery.flush({ timeoutMs: 25_000 })
    expect(delivered).toBe(10_000)
    for (const { depth } of lanes) expect(depth).toBeGreaterThan(16)
  })

  it.runIf(full)('find connections where requests of one connection are worked on one by one', async () => {
    const server = createServer((socket) => {
      const keys: string[] = []
      let text = ''
      const next = () => {
        socket.write(`HTTP/1.1 201 X\r\nidempotency-key: ${keys[0]}\r\ncontent-length: 0\r\n\r\n`)
        keys.shift()
        if (keys.length > 0) setTimeout(next, 20)
      }
      socket.on('error', () => {})
      socket.on('data', (chunk) => {
        text += chunk
        for (;;) {
          const head = /^(.*?)\r\n\r\n/s.exec(text)?.[1]
          const length = Number(/content-length: (\d+)/i.exec(head ?? '')?.[1])
          if (head === undefined || Buffer.byteLength(text) < head.length + 4 + length) return
          const body = Buffer.from(text.slice(head.length + 4))
            .subarray(0, length)
            .toString()
          text = text.slice(head.length + 4 + body.length)
          if (keys.push(/idempotency-key: (\S+)/i.exec(head)![1]!) === 1) setTimeout(next, 20)
        }
      })
    })
    const { delivery } = deliverTo({ url: await listen(server) })
    for (let number = 0; number < 4000; number++) delivery.accept(1, { body: value(number), severity: 6 })
    const seen: { connections: number; depth: number }[] = []
    const watch = setInterval(() => seen.push(delivery.stats().lanes[1]!), 50)
    const { delivered, lanes } = await delivery.flush({ timeoutMs: 25_000 })
    clearInterval(watch)
    expect(delivered).toBe(4000)
    expect(lanes[1]!.sender).toBe('pipelined')
    expect(Math.max(...seen.map(({ connections }) => connections))).toBeGreaterThan(32)
    const depths = sorted(seen.map(({ depth }) => depth))
    expect(depths[Math.floor(depths.length / 2)]).toBeLessThanOrEqual(4)
  })
})

describe.runIf(full && nginxInstalled)(
  'nginx, which closes a connection after 100 requests',
  { timeout: 60_000 },
  () => {
    it.each(['plain', 'TLS'])('in front of the receiver, %s: every record arrives once', async (how) => {
      const receiver = await startTestReceiver()
      cleanUps.push(() => receiver.close())
      const nginx = await startNginx(receiver.options.url)
      cleanUps.push(() => nginx.close())
      const url = how === 'TLS' ? nginx.secureUrl : nginx.url
      const { delivery, left } = deliverTo({ ...receiver.options, url, connection: { ca } })
      accept(delivery, 3000)
      const ledger = await delivery.flush({ timeoutMs: 50_000 })
      expect(ledger).toMatchObject({ accepted: 6000, delivered: 6000, rejected: 0 })
      expect(ledger.lanes.map(({ sender }) => sender)).toEqual(['pipelined', 'pipelined'])
      expect(sorted((await receiver.values()).map(({ eventId }) => eventId))).toEqual(expectedEvents(3000))
      expect((await receiver.logs()).map(({ message }) => message)).toHaveLength(3000)
      expect(left).toEqual([])
    })

    it.each(['plain', 'TLS'])(
      'that is reloaded meanwhile, %s: what came twice is counted as ambiguous',
      async (how) => {
        const server = await FaultServer.start(echoing)
        cleanUps.push(() => server.close())
        const nginx = await startNginx(server.url)
        cleanUps.push(() => nginx.close())
        const { delivery } = deliverTo({ url: how === 'TLS' ? nginx.secureUrl : nginx.url, connection: { ca } })
        for (let round = 0; round < 4; round++) {
          const enough = server.arrived(250)
          accept(delivery, 500)
          await enough
          nginx.reload()
        }
        const ledger = await delivery.flush({ timeoutMs: 50_000 })
        expect(ledger).toMatchObject({ accepted: 4000, delivered: 4000, rejected: 0 })
        const keys = server.requests.map(({ headers }) => headers.get('idempotency-key'))
        expect(new Set(keys).size).toBe(4000)
        expect(keys.length - 4000).toBeLessThanOrEqual(ledger.ambiguousRetries)
      },
    )
  },
)
