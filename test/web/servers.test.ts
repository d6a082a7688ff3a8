import { EventEmitter, once } from 'node:events'
import { createServer, request as open, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import express from 'express'
import Fastify from 'fastify'
import pino from 'pino'
import { currentContext } from 'sluice'
import { sluiceExpress } from 'sluice/express'
import { sluiceFastify } from 'sluice/fastify'
import { sluicePino } from 'sluice/pino'
import { captureSluice } from 'sluice/testing'
import { SluiceTransport } from 'sluice/winston'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import winston from 'winston'

interface TextLogger {
  info(text: string): unknown
  error(text: string): unknown
}

const loggers = {
  pino: (): TextLogger => pino({ base: null }, sluicePino()),
  winston: (): TextLogger => winston.createLogger({ transports: [new SluiceTransport()] }),
}
type Loggers = keyof typeof loggers

/** Both orders wait for each other, so that their requests are interleaved. */
class Meeting {
  readonly #gate = new EventEmitter()
  #guests = 0

  async all(): Promise<void> {
    this.#guests++
    if (this.#guests === 2) this.#gate.emit('open')
    else await once(this.#gate, 'open')
  }
}

/** A server with the routes `/orders/:id`, which meets, `/broken`, which throws, and `/never`, which never answers. */
type Application = (logger: Loggers, started?: () => void) => Promise<string>

const servers: Readonly<Record<string, Application>> = {
  async express(kind, started) {
    const logger = loggers[kind]()
    const meeting = new Meeting()
    const app = express().use(sluiceExpress({ logger }), express.json())
    const router = express.Router()
    router.post('/:id', async (_request, response) => {
      await meeting.all()
      logger.info('in the handler')
      response.json(currentContext())
    })
    router.get('/:id/broken', () => {
      throw new Error('out of stock')
    })
    app.use('/orders', router)
    app.get('/broken', () => {
      throw new Error('out of stock')
    })
    app.get('/never', () => started?.())
    app.use(((error, _request, response, _next) => {
      response.status(500).send(String(error))
    }) satisfies express.ErrorRequestHandler)
    return listen(createServer(app))
  },
  async fastify(kind, started) {
    const logger = loggers[kind]()
    const meeting = new Meeting()
    const app = Fastify()
    await app.register(sluiceFastify, { logger })
    app.post('/orders/:id', async () => {
      await meeting.all()
      logger.info('in the handler')
      return currentContext()
    })
    app.get('/broken', async () => {
      throw new Error('out of stock')
    })
    app.get('/never', () => {
      started?.()
    })
    await app.ready()
    return listen(app.server)
  },
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Posts a body that arrives in another turn of the server's event loop than the head, and has the answer. */
async function postLate(url: string, id: string): Promise<unknown> {
  const body = '{"a":1}'
  const headers = { 'x-request-id': id, 'content-type': 'application/json', 'content-length': body.length }
  const asked = open(url, { method: 'POST', headers: { ...headers, expect: '100-continue' } })
  const answered = once(asked, 'response')
  asked.flushHeaders()
  await once(asked, 'continue')
  asked.end(body)
  const [response] = await answered
  return json(response)
}

/** Messages of log records as text and fields, without the time that a request took. */
function split(messages: readonly string[]): unknown[] {
  return messages.map((message) => {
    const at = message.indexOf('{')
    const { durationMs, ...fields } = JSON.parse(message.slice(at))
    return [message.slice(0, at).trim(), { ...fields, ...(durationMs >= 0 ? { timed: true } : {}) }]
  })
}

const cases = Object.entries(servers).flatMap(([name, start]) =>
  (Object.keys(loggers) as Loggers[]).map((kind) => ({ name, kind, start })),
)

describe.each(cases)('$name with $kind', ({ name, kind, start }) => {
  it('gives each of two interleaved requests its own id, in the handler and in one line at the end', async () => {
    using captured = captureSluice()
    const url = await start(kind)
    const ask = (id: string) => postLate(`${url}/orders/${id}?q=1`, id)
    expect(await Promise.all([ask('a'), ask('b')])).toEqual([{ requestId: 'a' }, { requestId: 'b' }])
    await vi.waitFor(() => expect(captured.logs).toHaveLength(4))
    const line = { method: 'POST', route: '/orders/:id', status: 200, timed: true }
    const lines = split(captured.logs.map(({ message }) => message))
    expect(lines).toEqual(
      expect.arrayContaining([
        ['in the handler', { requestId: 'a' }],
        ['in the handler', { requestId: 'b' }],
        ['request', { ...line, requestId: 'a' }],
        ['request', { ...line, requestId: 'b' }],
      ]),
    )
  })

  it('logs a handler that throws as an error, and an unknown path without its query', async () => {
    using captured = captureSluice()
    const url = await start(kind)
    const headers = { 'x-request-id': 'r-1' }
    const statuses: number[] = []
    for (const path of ['/broken?key=secret', '/unknown?key=secret', '/orders/7/broken'])
      statuses.push((await fetch(url + path, { headers })).status)
    const nested = name === 'express' ? 500 : 404
    expect(statuses).toEqual([500, 404, nested])
    await vi.waitFor(() => expect(captured.logs).toHaveLength(3))
    expect(captured.logs.map(({ level }) => level)).toEqual(['error', 'info', nested === 500 ? 'error' : 'info'])
    const about = { method: 'GET', requestId: 'r-1', timed: true }
    expect(split(captured.logs.map(({ message }) => message))).toEqual([
      ['request', { ...about, route: '/broken', status: 500 }],
      ['request', { ...about, path: '/unknown', status: 404 }],
      ['request', { ...about, path: '/orders/7/broken', status: nested }],
    ])
  })

  it('logs a request whose client goes away, without a status', async () => {
    using captured = captureSluice()
    const begun = new EventEmitter()
    const started = once(begun, 'started')
    const url = await start(kind, () => begun.emit('started'))
    const asked = open(`${url}/never`, { headers: { 'x-request-id': 'r-1' } })
    asked.on('error', () => {})
    asked.end()
    await started
    asked.destroy()
    await vi.waitFor(() => expect(captured.logs).toHaveLength(1))
    expect(split(captured.logs.map(({ message }) => message))).toEqual([
      ['request', { method: 'GET', route: '/never', aborted: true, requestId: 'r-1', timed: true }],
    ])
  })
})

describe('the option logger', () => {
  it('must be a logger', async () => {
    const wrong = { logger: 7 } as never
    const error = new TypeError('option logger: expected a logger of pino or winston, got 7')
    expect(() => sluiceExpress(wrong)).toThrow(error)
    await expect(async () => Fastify().register(sluiceFastify, wrong)).rejects.toThrow(error)
  })

  it('may throw when it is called, and the request is answered', async () => {
    const failing = () => {
      throw new Error('the logger is broken')
    }
    const app = express().use(sluiceExpress({ logger: { info: failing, error: failing } }))
    app.get('/', (_request, response) => void response.send('fine'))
    expect(await (await fetch(await listen(createServer(app)))).text()).toBe('fine')
  })

  it('is by default the logger of the request in fastify', async () => {
    using captured = captureSluice()
    const app = Fastify({ loggerInstance: pino({ base: null }, sluicePino()) })
    await app.register(sluiceFastify)
    app.get('/', async () => 'fine')
    await app.inject({ url: '/', headers: { 'x-request-id': 'r-1' } })
    await vi.waitFor(() => expect(captured.logs).toHaveLength(3))
    expect(captured.logs[2]!.message).toMatch(/^request {.*"route":"\/".*"requestId":"r-1"}$/)
  })
})
