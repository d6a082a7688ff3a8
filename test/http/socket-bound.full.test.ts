import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { createSluice } from 'sluice'
import { afterEach, describe, expect, it } from 'vitest'
import { Engine } from '../../src/engine/engine.js'
import { openSender } from '../../src/http/auto-sender.js'
import { PipelinedSender } from '../../src/http/pipelined-sender.js'
import { UndiciSender } from '../../src/http/undici-sender.js'
import { resolve } from '../../src/options/resolve.js'
import { systemLoop } from '../../src/runtime/loop.js'
import { sendBatch } from '../support/batch.js'
import { response } from '../support/fault-server.js'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/**
 * A server that counts its connections, and treats each request as its script says. A connection that the client has closed does not
 * count, though the server may learn of the next one first: so the count is taken once the server has read all that had arrived by then.
 */
class CountingServer {
  most = 0
  requests = 0
  script: (socket: Socket, request: number) => void = answer
  #heard: () => void = () => {}
  readonly #connections = new Set<Socket>()

  static async start(): Promise<CountingServer & { url: string }> {
    const counting = new CountingServer()
    const server = createServer((socket) => {
      counting.#count(socket)
      cleanUps.push(() => socket.destroy())
      socket.on('data', (chunk) => {
        for (const _ of chunk.toString('latin1').matchAll(/POST \//g)) counting.script(socket, ++counting.requests)
        counting.#heard()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanUps.push(() => server.close())
    return Object.assign(counting, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  }

  #count(socket: Socket): void {
    const connections = this.#connections.add(socket)
    for (const end of ['end', 'close']) socket.on(end, () => connections.delete(socket))
    socket.on('error', () => {})
    void turns(3).then(() => {
      this.most = Math.max(this.most, connections.size)
    })
  }

  async heard(): Promise<void> {
    await new Promise<void>((done) => {
      this.#heard = done
    })
  }
}

/** Let the event loop read what has arrived: a close that follows data takes two turns. */
const turns = async (count: number) => {
  for (let done = 0; done < count; done++) await turn()
}
const answer = (socket: Socket) => void socket.write(response(201, '{"result":true}'))
const silence = () => {}
/** Faults of a server, with the number of requests. */
const faults: Record<string, (socket: Socket, request: number) => void> = {
  'stops answering': silence,
  'answers one request in three': (socket, request) => void (request % 3 === 0 && answer(socket)),
  'resets every connection': (socket) => void socket.resetAndDestroy(),
  'closes every connection without a word': (socket) => void socket.end(response(201, '{}')),
  'announces the end of every connection': (socket) => void socket.end(response(201, '{}', { connection: 'close' })),
  'is not understood': (socket) => void socket.write('\u0000\r\n\r\n'),
}

const plan = {
  apiKey: { reveal: () => 'k', renew: () => false },
  userAgent: 'sluice/test',
  maxConnections: 3,
  requestTimeoutMs: 60,
  loop: systemLoop,
}
const senders = {
  undici: (url: string) => new UndiciSender({ ...plan, url }),
  pipelined: (url: string) => new PipelinedSender({ ...plan, url, maxDepth: 8 }),
  auto: (url: string) =>
    openSender({ ...plan, url, pipelining: 'auto', maxBatch: 8, proxyUrl: undefined, left: () => {} }),
}

describe.each(Object.entries(senders))('the %s sender', (_, open) => {
  it.each(Object.entries(faults))('has at most maxConnections to a server that %s', async (_, fault) => {
    const server = await CountingServer.start()
    const sender = open(server.url)
    cleanUps.push(() => sender.close())
    let n = 0
    const round = async () => {
      const batches = Array.from({ length: 3 }, () => sendBatch(sender, [`{"n":${n++}}`, `{"n":${n++}}`]))
      await Promise.all(batches)
      await sendBatch(sender, [`{"n":${n++}}`], { probe: true })
    }
    for (const script of [answer, fault, answer]) {
      server.script = script
      await round()
      await Promise.all([round(), sendBatch(sender, [`{"n":${n++}}`, `{"n":${n++}}`])])
    }
    expect(server.most).toBeGreaterThan(0)
    expect(server.most).toBeLessThanOrEqual(3)
  })
})

it('a probe takes the place of a connection that is idle', async () => {
  const server = await CountingServer.start()
  const sender = openSender({
    ...plan,
    maxConnections: 1,
    url: server.url,
    pipelining: 'auto',
    maxBatch: 8,
    proxyUrl: undefined,
    left: () => {},
  })
  cleanUps.push(() => sender.close())
  for (const probe of [false, false, true, false, true]) await sendBatch(sender, ['{}'], { probe })
  expect(server.most).toBe(1)
})

it('an engine with both lanes has at most twice maxConnections, while the service fails and comes back', async () => {
  const server = await CountingServer.start()
  const url = server.url
  const sluice = createSluice({
    url,
    apiKey: 'k',
    bucket: 'b',
    maxConnections: 2,
    requestTimeoutMs: 60,
    retryBaseMs: 1,
    retryCapMs: 5,
  })
  cleanUps.push(() => sluice.close({ timeoutMs: 0 }))
  for (const script of [answer, silence, answer]) {
    server.script = script
    for (let event = 0; event < 200; event++) sluice.track(event)
    await sluice.flush({ timeoutMs: 400 })
  }
  expect(await sluice.flush()).toMatchObject({ delivered: 600 })
  // All of them are values.
  expect(server.most).toBeLessThanOrEqual(2)
})

describe('at the end of a process', () => {
  it('requests of the thread replace the connections of the engine', async () => {
    const server = await CountingServer.start()
    const environment = { SLUICE_URL: server.url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b', SLUICE_MAX_CONNECTIONS: '1' }
    const engine = new Engine(resolve({}, { environment, needs: 'values' }).options)
    server.script = silence
    const arrived = server.heard()
    engine.value(1, Date.now())
    await arrived
    server.script = answer
    const step = engine.endSync({ timeoutMs: 5000 })
    while (!step(0)) await turn()
    expect(engine.stats()).toMatchObject({ delivered: 1 })
    expect(server.requests).toBe(2)
    // 0 where both connections were closed before the server took the count.
    expect(server.most).toBeLessThanOrEqual(1)
  })
})
