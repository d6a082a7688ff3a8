import { createSluice, type Sluice } from 'sluice'
import { afterEach, describe, expect, it } from 'vitest'
import type { Sender } from '../../src/delivery/sender.js'
import { type OpenSenderPlan, openSender } from '../../src/http/auto-sender.js'
import { systemLoop } from '../../src/runtime/loop.js'
import { sendBatch, tally } from '../support/batch.js'
import { delivered, type Fault, FaultServer, type Request, response } from '../support/fault-server.js'
import { full } from '../support/full.js'
import { VirtualClock } from '../support/virtual-clock.js'

let server: FaultServer
let sender: Sender | undefined
let left: string[]
afterEach(async () => {
  await sender?.close()
  await server.close()
})

async function start(script: (request: Request) => Fault, changes: Partial<OpenSenderPlan> = {}): Promise<Sender> {
  server = await FaultServer.start(script)
  left = []
  sender = openSender({
    url: server.url,
    apiKey: { reveal: () => 'k', renew: () => false },
    userAgent: 'sluice/test',
    maxConnections: 8,
    maxBatch: 64,
    requestTimeoutMs: 300,
    loop: systemLoop,
    pipelining: 'auto',
    proxyUrl: undefined,
    left: (reason) => left.push(reason),
    ...changes,
  })
  return sender
}

const bodies = (count: number) => Array.from({ length: count }, (_, n) => `{"n":${n}}`)
const numberOf = ({ body }: Request) => (JSON.parse(body) as { n: number }).n
/** The sender, and the most requests in flight on a connection, for logs and for values. */
const state = () => {
  const [logs, values] = [sender!.carriage('logs'), sender!.carriage('values')]
  return `${logs.sender} ${logs.maxDepth} ${values.maxDepth}`
}
/** Undici sends `connection: keep-alive` with each request, the pipelined sender does not. */
const used = () => server.requests.map(({ headers }) => (headers.has('connection') ? 'undici' : 'pipelined'))
const echoing = ({ headers }: Request): Fault => ({
  ...(delivered as Fault & { type: 'answer' }),
  headers: { 'idempotency-key': headers.get('idempotency-key')! },
})
const send = async (count: number) => tally(await sendBatch(sender!, bodies(count)))
const probe = async () => tally(await sendBatch(sender!, bodies(1), { probe: true }))
/** Leaves a sender that pipelines. */
async function warmUp(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) expect(await send(1)).toEqual({ delivered: 1 })
  expect(state()).toMatch('pipelined 64')
}

describe('auto', () => {
  it('begins with one request on a connection, then pipelines, without the undici sender', async () => {
    await start(() => delivered)
    expect(state()).toBe('pipelined 1 1')
    await send(1)
    expect(state()).toBe('pipelined 64 1')
    expect(await send(64)).toEqual({ delivered: 64 })
    expect(used()).toEqual(Array(65).fill('pipelined'))
    expect(left).toEqual([])
  })

  it('pipelines value records only while the server echoes the idempotency key in its successes', async () => {
    await start(echoing)
    await warmUp()
    expect(state()).toBe('pipelined 64 64')
    server.script = () => ({ type: 'answer', status: 503 })
    await send(2)
    expect(state()).toBe('pipelined 64 64')
    server.script = () => delivered
    await send(2)
    expect(state()).toBe('pipelined 64 1')
    server.script = echoing
    await send(2)
    expect(state()).toBe('pipelined 64 64')
  })

  it('probes as it sends', async () => {
    await start(() => delivered)
    await warmUp()
    expect(await probe()).toEqual({ delivered: 1 })
    expect(used()).toEqual(['pipelined', 'pipelined', 'pipelined'])
  })

  const bytes = (text: string): Fault => ({ type: 'bytes', text, next: 'go-on' })
  it.each<[string, Fault]>([
    ['announces that it closes', { type: 'close', announced: true }],
    ['ends its bodies with the connection', { type: 'bytes', text: 'HTTP/1.1 201 X\r\n\r\n{}', next: 'fin' }],
    ['speaks HTTP/1.0', { type: 'bytes', text: 'HTTP/1.0 201 X\r\n\r\n{}', next: 'fin' }],
    ['refuses', { type: 'answer', status: 400, body: '{"errors":[]}' }],
    ['has trouble', { type: 'answer', status: 503 }],
  ])('goes on with one request while the server %s', async (_, fault) => {
    await start(() => fault)
    await send(1)
    await send(1)
    expect(state()).toBe('pipelined 1 1')
    expect(used()).toEqual(['pipelined', 'pipelined'])
    expect(left).toEqual([])
    server.script = () => bytes('HTTP/1.1 201 X\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n')
    await send(1)
    expect(state()).toBe('pipelined 64 1')
  })

  it.each<[string, Fault]>([
    ['resets', { type: 'reset-before-answer' }],
    ['never answers', { type: 'silence' }],
  ])('goes on with one request while the server %s, however often, and pipelines when it is well', async (_, fault) => {
    await start(() => fault)
    for (let turn = 0; turn < 4; turn++) expect(await send(1)).toEqual({ ambiguous: 1 })
    expect(state()).toBe('pipelined 1 1')
    server.script = () => delivered
    await send(1)
    expect(state()).toBe('pipelined 64 1')
    expect(left).toEqual([])
  })

  it('uses the undici sender for good, without a report, for a server that is not understood at first', async () => {
    await start(() => ({ type: 'garbage' }))
    await Promise.all([send(1), send(1), sendBatch(sender!, bodies(1), { kind: 'values' })])
    expect(state()).toBe('undici 1 1')
    server.script = () => delivered
    for (let turn = 0; turn < 2; turn++) expect(await send(1)).toEqual({ delivered: 1 })
    expect(state()).toBe('undici 1 1')
    expect(used().slice(-2)).toEqual(['undici', 'undici'])
    expect(left).toEqual([])
  })

  it('knows that the server recognises repeated requests, also with the undici sender', async () => {
    await start(() => ({ type: 'garbage' }))
    await send(1)
    server.script = echoing
    await send(1)
    expect(sender!.carriage('logs')).toEqual({ sender: 'undici', maxDepth: 1, repeatable: true })
  })

  it('forgives the first answer to a probe that is not understood: a balancer may answer for the service', async () => {
    await start(() => delivered)
    await warmUp()
    for (let outage = 0; outage < 2; outage++) {
      server.script = () => ({ type: 'garbage' })
      expect(await probe()).toEqual({ ambiguous: 1 })
      server.script = () => ({ type: 'answer', status: 503 })
      expect(await probe()).toEqual({ retry: 1 })
      server.script = () => delivered
      expect(await probe()).toEqual({ delivered: 1 })
      expect(state()).toBe('pipelined 64 1')
    }
    server.script = () => ({ type: 'garbage' })
    await probe()
    expect(left).toEqual([])
    await probe()
    expect(left).toEqual([expect.stringContaining('not understood')])
    expect(state()).toBe('undici 1 1')
    server.script = () => delivered
    expect(await probe()).toEqual({ delivered: 1 })
  })

  it('does not count breaks before the first success', async () => {
    await start(() => ({ type: 'reset-before-answer' }))
    for (let turn = 0; turn < 2; turn++) expect(await send(1)).toEqual({ ambiguous: 1 })
    server.script = () => delivered
    await send(1)
    server.script = () => ({ type: 'close', announced: false })
    for (let turn = 0; turn < 2; turn++) expect(await send(2)).toEqual({ delivered: 1, ambiguous: 1 })
    expect(left).toEqual([])
    await send(2)
    expect(left).toHaveLength(1)
  })

  it('pipelines after a success without a body, which needs no length', async () => {
    await start(() => bytes('HTTP/1.1 204 No Content\r\n\r\n'))
    await send(1)
    expect(state()).toBe('pipelined 64 1')
  })

  it('goes on to pipeline when a balancer reports in HTTP/1.0 that the server is away', async () => {
    await start(() => delivered)
    await warmUp()
    const away = 'HTTP/1.0 503 Service Unavailable\r\nconnection: close\r\n\r\n<html></html>'
    server.script = () => ({ type: 'bytes', text: away, next: 'fin' })
    expect(await send(3)).toEqual({ retry: 1, ambiguous: 2 })
    server.script = () => delivered
    expect(await send(3)).toEqual({ delivered: 3 })
    expect(left).toEqual([])
    expect(state()).toBe('pipelined 64 1')
  })

  it.each<[string, Fault, RegExp]>([
    ['bytes that are not understood', { type: 'garbage' }, /not understood \(the status line/],
    [
      'the key of another request',
      bytes('HTTP/1.1 201 X\r\nidempotency-key: x\r\ncontent-length: 0\r\n\r\n'),
      /another request/,
    ],
    ['an unexpected answer', bytes(response(201, '{"result":true}').repeat(3)), /without a request/],
    ['two lengths', bytes('HTTP/1.1 201 X\r\ncontent-length: 0\r\ncontent-length: 0\r\n\r\n'), /twice/],
  ])('uses the undici sender for good from %s on, and reports it once', async (_, fault, reason) => {
    await start(() => delivered)
    await send(1)
    server.script = () => fault
    await Promise.all([send(2), send(2)])
    expect(state()).toBe('undici 1 1')
    expect(left).toEqual([expect.stringMatching(reason)])
    server.script = () => delivered
    await send(3)
    expect(used().slice(-3)).toEqual(['undici', 'undici', 'undici'])
    expect(state()).toBe('undici 1 1')
  })

  it.each<[string, Fault]>([
    ['keeps the connection', bytes('HTTP/1.0 201 X\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n')],
    ['closes the connection', { type: 'bytes', text: 'HTTP/1.0 201 X\r\n\r\n{}', next: 'fin' }],
  ])(
    'sends one request at a time for good after a success in HTTP/1.0 that %s, and reports it once',
    async (_, fault) => {
      await start(() => delivered)
      await warmUp()
      server.script = () => fault
      for (let turn = 0; turn < 3; turn++) expect(await send(1)).toEqual({ delivered: 1 })
      expect(state()).toBe('pipelined 1 1')
      server.script = () => delivered
      for (let turn = 0; turn < 2; turn++) expect(await send(1)).toEqual({ delivered: 1 })
      expect(state()).toBe('pipelined 1 1')
      expect(new Set(used())).toEqual(new Set(['pipelined']))
      server.script = () => ({ type: 'garbage' })
      await send(1)
      expect(state()).toBe('undici 1 1')
      expect(left).toEqual(['the server answers with HTTP/1.0'])
    },
  )

  it.each<[string, Fault]>([
    ['closes', { type: 'close', announced: false }],
    ['resets', { type: 'reset-after-commit' }],
  ])(
    'stops pipelining to a server that %s the connection after the first of several requests, again and again',
    async (_, fault) => {
      // By this clock no connection is idle.
      const clock = new VirtualClock()
      await start(() => delivered, { loop: clock })
      await warmUp()
      server.script = () => fault
      for (let turn = 0; turn < 3; turn++) {
        expect(left).toEqual([])
        await send(10)
        await clock.advance(1)
      }
      expect(left).toEqual([expect.stringContaining('connections broke again and again')])
      expect(state()).toBe('pipelined 1 1')
      for (let turn = 0; turn < 4; turn++) await send(1)
      server.script = () => delivered
      expect(await send(1)).toEqual({ delivered: 1 })
      expect(state()).toBe('pipelined 1 1')
      expect(new Set(used())).toEqual(new Set(['pipelined']))
      expect(left).toHaveLength(1)
    },
  )

  it('stops pipelining to a server that answers the first of several requests and forgets the others', async () => {
    await start(() => delivered)
    await warmUp()
    server.script = (request) => (numberOf(request) === 0 ? delivered : { type: 'silence' })
    for (let turn = 0; turn < 3; turn++) expect(await send(5)).toEqual({ delivered: 1, ambiguous: 4 })
    expect(left).toHaveLength(1)
  })

  it('goes on to pipeline to a server that restarts, that is only silent, or that closes as announced', async () => {
    await start(() => delivered)
    await warmUp()
    for (let restart = 0; restart < 2; restart++) {
      server.script = () => ({ type: 'silence' })
      const stuck = Array.from({ length: 8 }, () => send(10))
      await server.arrived(8)
      await server.hangUp()
      await Promise.all(stuck)
    }
    await Promise.all(Array.from({ length: 4 }, () => send(10)))
    server.script = (request) => (numberOf(request) === 5 ? { type: 'close', announced: true } : delivered)
    for (let turn = 0; turn < 5; turn++) await send(10)
    expect(left).toEqual([])
    expect(state()).toBe('pipelined 64 1')
  })

  it('goes on to pipeline to a server that closes an idle connection while requests are written', async () => {
    const clock = new VirtualClock()
    await start(() => delivered, { loop: clock })
    await warmUp()
    for (let turn = 0; turn < 4; turn++) {
      expect(await send(5)).toEqual({ delivered: 5 })
      await clock.advance(30)
      const hungUp = server.hangUp()
      expect(await send(5)).toEqual({ ambiguous: 5 })
      await hungUp
    }
    expect(left).toEqual([])
  })

  it.runIf(full)('forgives breaks that are rare', async () => {
    await start(() => delivered)
    await warmUp()
    for (let turn = 0; turn < 4; turn++) {
      server.script = () => ({ type: 'close', announced: false })
      expect(await send(2)).toMatchObject({ ambiguous: 1 })
      server.script = () => delivered
      for (let answers = 0; answers < 10_000; answers += 1000) await send(1000)
    }
    expect(left).toEqual([])
  })

  it.each([{ pipelining: 'off' as const }, { proxyUrl: 'http://127.0.0.1:1' }])('is not for %j', async (changes) => {
    await start(() => delivered, changes)
    for (let turn = 0; turn < 3; turn++) await sendBatch(sender!, bodies(2))
    expect(state()).toBe('undici 1 1')
  })
})

describe('stats()', () => {
  let sluice: Sluice
  afterEach(() => sluice.close({ timeoutMs: 0 }))

  it('shows the sender of a lane; the end of pipelining is reported once', async () => {
    server = await FaultServer.start(echoing)
    const told: unknown[] = []
    const onError = (error: Error) => told.push([(error as Error & { code: string }).code, error.message])
    sluice = createSluice({ url: server.url, apiKey: 'k', bucket: 'b', retryBaseMs: 5, onError })
    const lane = () => sluice.stats().lanes.find(({ kind }) => kind === 'values')!
    for (let turn = 0; turn < 3; turn++) {
      sluice.track(1)
      await sluice.flush()
    }
    // On a busy machine answers are slow, and a lane lowers its depth. Then another burst raises it.
    let sent = 3
    do {
      for (let event = 0; event < 500; event++) sluice.track(event)
      sent += 500
      expect(await sluice.flush()).toMatchObject({ delivered: sent })
      expect(lane()).toMatchObject({ sender: 'pipelined' })
    } while (lane().depth === 1)
    server.script = ({ number }) => (number === sent ? { type: 'garbage' } : delivered)
    sluice.track(1)
    expect(await sluice.flush()).toMatchObject({ delivered: sent + 1, ambiguousRetries: 1 })
    expect(lane()).toMatchObject({ sender: 'undici', depth: 1 })
    expect(told).toEqual([['SLUICE_PIPELINING', expect.stringContaining('requests are not pipelined any more')]])
  })

  it('shows undici where pipelining is off', async () => {
    server = await FaultServer.start(echoing)
    sluice = createSluice({ url: server.url, apiKey: 'k', bucket: 'b', pipelining: 'off' })
    for (let event = 0; event < 100; event++) sluice.track(event)
    const { lanes } = await sluice.flush()
    expect(lanes.map(({ sender, depth }) => [sender, depth])).toEqual([
      ['undici', 1],
      ['undici', 1],
    ])
    expect(used()).toEqual(Array(100).fill('undici'))
  })
})
