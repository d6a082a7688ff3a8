import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSluice } from 'sluice'
import { afterEach, describe, expect, it } from 'vitest'
import type { Sender } from '../../src/delivery/sender.js'
import { openSender } from '../../src/http/auto-sender.js'
import { PipelinedSender } from '../../src/http/pipelined-sender.js'
import type { RecordKind } from '../../src/records/wire.js'
import { systemLoop } from '../../src/runtime/loop.js'
import { sendBatch, word } from '../support/batch.js'
import { type Fault, FaultServer, response } from '../support/fault-server.js'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** A server on node:http that stores every request under its key, however often it comes. */
class KeyServer {
  readonly stored = new Map<string, number>()
  answers = 0
  readonly server: Server

  constructor(before: (response: ServerResponse, answers: number) => void, { echoes = false } = {}) {
    this.server = createServer((incoming, outgoing) => {
      incoming.resume().on('end', () => {
        const key = incoming.headers['idempotency-key'] as string
        this.stored.set(key, (this.stored.get(key) ?? 0) + 1)
        before(outgoing, ++this.answers)
        if (echoes) outgoing.setHeader('idempotency-key', key)
        outgoing.writeHead(201, { 'content-type': 'application/json' }).end('{"result":true}')
      })
    })
    cleanUps.push(() => {
      this.server.closeAllConnections()
      this.server.close()
    })
  }

  async url(): Promise<string> {
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  get twice(): number {
    return [...this.stored.values()].reduce((sum, times) => sum + times - 1, 0)
  }
}

const plan = {
  apiKey: { reveal: () => 'k', renew: () => false },
  userAgent: 'sluice/test',
  maxConnections: 4,
  requestTimeoutMs: 5000,
  loop: systemLoop,
}

/** Delivers all records in batches of 64 side by side. Returns the number of ambiguous outcomes. */
async function deliverAll(sender: Sender, count: number, kind: RecordKind): Promise<number> {
  let left = Array.from({ length: count }, (_, n) => `{"n":${n}}`)
  let ambiguous = 0
  const carry = async () => {
    while (left.length > 0) {
      const batch = left.splice(0, Math.min(64, sender.carriage(kind).maxDepth))
      const outcomes = (await sendBatch(sender, batch, { kind })).map(word)
      ambiguous += outcomes.filter((each) => each === 'ambiguous').length
      left = [...batch.filter((_, index) => outcomes[index] !== 'delivered'), ...left]
    }
  }
  await Promise.all(Array.from({ length: 4 }, carry))
  return ambiguous
}

async function autoSenderTo(server: KeyServer): Promise<Sender> {
  const url = await server.url()
  const sender = openSender({ ...plan, url, pipelining: 'auto', maxBatch: 64, proxyUrl: undefined, left: () => {} })
  cleanUps.push(() => sender.close())
  return sender
}

const answer = { type: 'answer', status: 201, body: '{"result":true}' } as const

const every97 = (outgoing: ServerResponse, answers: number) =>
  void (answers % 97 === 0 && outgoing.setHeader('connection', 'close'))

describe('a server on node:http that closes its connection after every 97th answer', () => {
  it('stores no value record twice, although it ignores the keys', async () => {
    const server = new KeyServer(every97)
    const sender = await autoSenderTo(server)
    expect(await deliverAll(sender, 2000, 'values')).toBe(0)
    expect(server).toMatchObject({ twice: 0, answers: 2000 })
  })

  it('stores few log records twice, and each of them was counted as ambiguous', async () => {
    const server = new KeyServer(every97)
    const sender = await autoSenderTo(server)
    const ambiguous = await deliverAll(sender, 4000, 'logs')
    expect(server.twice).toBeGreaterThan(0)
    expect(server.twice).toBeLessThanOrEqual(ambiguous)
    // The first close is a surprise. After it one request at a time goes out.
    expect(ambiguous).toBeLessThan(4 * 64)
  })

  it('stores no more records twice than the ledger counts as ambiguous', async () => {
    const server = new KeyServer(every97, { echoes: true })
    const sluice = createSluice({ url: await server.url(), apiKey: 'k', bucket: 'b', retryBaseMs: 1, retryCapMs: 5 })
    cleanUps.push(() => sluice.close({ timeoutMs: 0 }))
    for (let event = 0; event < 3000; event++) sluice.track(event)
    const { delivered, ambiguousRetries } = await sluice.flush({ timeoutMs: 20_000 })
    expect(delivered).toBe(3000)
    expect(server.twice).toBeLessThanOrEqual(ambiguousRetries)
    expect(ambiguousRetries).toBeLessThan(4 * 64)
  })
})

describe.each(['logs', 'values'] as const)('%s', (kind) => {
  it('are never pipelined beyond what the server says that a connection takes: node:http with maxRequestsPerSocket', async () => {
    const server = new KeyServer(() => {})
    server.server.maxRequestsPerSocket = 97
    const sender = new PipelinedSender({ ...plan, url: await server.url(), maxDepth: 64 })
    cleanUps.push(() => sender.close())
    // The first answer says it.
    await sendBatch(sender, ['{"n":-1}'], { kind })
    expect(await deliverAll(sender, 2000, kind)).toBe(0)
    expect(server).toMatchObject({ twice: 0, answers: 2001 })
  })

  /** A server that announces the close of a connection, by its number, with this answer on it. */
  async function setUp(lastAnswers: readonly (number | undefined)[]) {
    const served = new Map<number, number>()
    const server = await FaultServer.start(({ connection, body }) => {
      const count = (served.get(connection) ?? 0) + 1
      served.set(connection, count)
      if (body.includes('slow')) return { ...answer, afterMs: 100 }
      return count === lastAnswers[connection - 1] ? { type: 'close', announced: true } : answer
    })
    cleanUps.push(() => server.close())
    const sender = new PipelinedSender({ ...plan, url: server.url, maxDepth: 64 })
    cleanUps.push(() => sender.close())
    const send = async (body: string) => (await sendBatch(sender, [body], { kind })).map(word)
    return { server, send }
  }

  it('need no connection each where two of them were closed after one answer by chance', async () => {
    const { server, send } = await setUp([1, 1])
    for (let record = 0; record < 20; record++) expect(await send('{}')).toEqual(['delivered'])
    expect(server.connections).toBe(3)
  })

  it('go out on a new connection where the idle one is older than connections become', async () => {
    const { server, send } = await setUp([undefined, 2, 2])
    for (let record = 0; record < 3; record++) await send('{}')
    const slow = send('{"slow":true}')
    for (let record = 0; record < 4; record++) await send('{}')
    expect([await slow, server.connections]).toEqual([['delivered'], 3])
    expect(await send('{}')).toEqual(['delivered'])
    expect(server.connections).toBe(4)
  })

  it('are never pipelined beyond what the server counts down, as Apache does', async () => {
    const served = new Map<number, number>()
    let beyond = 0
    const server = await FaultServer.start(({ connection }) => {
      const count = (served.get(connection) ?? 0) + 1
      served.set(connection, count)
      if (count > 50) beyond++
      const last = count >= 50
      const header = last ? { connection: 'close' } : { 'keep-alive': `timeout=5, max=${50 - count}` }
      return { type: 'bytes', text: response(201, '{"result":true}', header), next: last ? 'fin' : 'go-on' }
    })
    cleanUps.push(() => server.close())
    const sender = new PipelinedSender({ ...plan, url: server.url, maxDepth: 64 })
    cleanUps.push(() => sender.close())
    await sendBatch(sender, ['{"n":-1}'], { kind })
    expect(await deliverAll(sender, 1000, kind)).toBe(0)
    expect(beyond).toBe(0)
    expect(server.connections).toBeLessThan(30)
  })

  it('are pipelined up to an end that has been seen twice, and never beyond it', async () => {
    const served = new Map<number, number>()
    let closes = 0
    let most = 0
    const server = await FaultServer.start(({ connection }) => {
      const count = (served.get(connection) ?? 0) + 1
      served.set(connection, count)
      most = Math.max(most, server.requests.length - server.answered - closes)
      if (count < 10) return { type: 'answer', status: 201, afterMs: 1 }
      closes++
      return { type: 'close', announced: true }
    })
    cleanUps.push(() => server.close())
    const sender = new PipelinedSender({ ...plan, url: server.url, maxConnections: 1, maxDepth: 64 })
    cleanUps.push(() => sender.close())
    // Two closes. The first was not foreseen.
    await deliverAll(sender, 20, kind)
    most = 0
    expect(await deliverAll(sender, 200, kind)).toBe(0)
    expect(most).toBeGreaterThan(7)
  })

  it('go out one at a time on each connection after a close that nothing announced', async () => {
    let most = 0
    const server = await FaultServer.start(({ number }) => {
      if (number === 40) return { type: 'close', announced: true }
      // The answer that closed is not counted.
      if (number > 400) most = Math.max(most, server.requests.length - server.answered - 1)
      return { type: 'answer', status: 201, afterMs: 1 }
    })
    cleanUps.push(() => server.close())
    const sender = new PipelinedSender({ ...plan, url: server.url, maxDepth: 64 })
    cleanUps.push(() => sender.close())
    await deliverAll(sender, 700, kind)
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(4)
  })
})

describe('value records', () => {
  const bodies = (...numbers: number[]) => numbers.map((n) => `{"n":${n}}`)
  async function start(first: Fault) {
    const server = await FaultServer.start(({ number }) =>
      number === 0 ? first : number === 1 ? { type: 'silence' } : { type: 'answer', status: 201, afterMs: 20 },
    )
    cleanUps.push(() => server.close())
    const sender = new PipelinedSender({ ...plan, url: server.url, maxDepth: 64 })
    cleanUps.push(() => sender.close())
    await sendBatch(sender, bodies(0), { kind: 'values' })
    // This record keeps its connection busy, so that the next batch gets a new one.
    void sendBatch(sender, bodies(1), { kind: 'values' })
    await server.arrived(1)
    return { server, sender }
  }
  const answer = (header: Record<string, string>, next: 'go-on' | 'fin'): Fault => ({
    type: 'bytes',
    text: response(201, '{"result":true}', header),
    next,
  })

  it.each<[string, Fault]>([
    ['says how many requests a connection takes', answer({ 'keep-alive': 'timeout=5, max=100' }, 'go-on')],
    ['has closed a connection before', answer({ connection: 'close' }, 'fin')],
  ])('wait for an answer to the first on a new connection to a server that %s', async (_, first) => {
    const { server, sender } = await start(first)
    const sent = sendBatch(sender, bodies(2, 3, 4), { kind: 'values' })
    await server.arrived(1)
    expect(server.requests).toHaveLength(3)
    expect((await sent).map(word)).toEqual(['delivered', 'delivered', 'delivered'])
  })

  it('go out together on a new connection to a server that has never closed one', async () => {
    const { server, sender } = await start(answer({}, 'go-on'))
    const sent = sendBatch(sender, bodies(2, 3, 4), { kind: 'values' })
    await server.arrived(1)
    expect(server.requests).toHaveLength(5)
    expect((await sent).map(word)).toEqual(['delivered', 'delivered', 'delivered'])
  })
})
