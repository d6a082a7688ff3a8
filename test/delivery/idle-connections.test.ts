import { afterEach, describe, expect, it, vi } from 'vitest'
import { openSender } from '../../src/http/auto-sender.js'
import { setUp } from '../support/delivery.js'
import { delivered, type Fault, FaultServer } from '../support/fault-server.js'
import { startForgetfulNetwork } from '../support/forgetful-network.js'
import { startTestReceiver } from '../support/receiver.js'
import { VirtualClock } from '../support/virtual-clock.js'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

interface Service {
  readonly url: string
  readonly apiKey?: string
  readonly bucket?: string
}

/** A delivery in virtual time, over sockets, through a network that can forget its connections. */
async function deliverTo(
  { url, apiKey = 'k', bucket = 'b' }: Service,
  { pipelining = 'auto' as 'auto' | 'off', requestTimeoutMs = 10_000 } = {},
) {
  const network = await startForgetfulNetwork(url)
  cleanUps.push(() => network.close())
  const clock = new VirtualClock()
  const sender = openSender({
    url: network.url,
    apiKey: { reveal: () => apiKey, renew: () => false },
    userAgent: 'sluice/test',
    maxConnections: 64,
    maxBatch: 8,
    requestTimeoutMs,
    loop: clock,
    pipelining,
    proxyUrl: undefined,
    left: () => {},
  })
  cleanUps.push(() => sender.close())
  const lanes = (['logs', 'values'] as const).map((kind) => ({ kind, bucket }))
  const set = setUp({ sender, lanes, maxConnections: 64, requestTimeoutMs }, clock)
  const settled = (count: number) =>
    vi.waitFor(() => expect(set.delivery.stats().delivered).toBe(count), { timeout: 10_000 })
  return { ...set, network, settled }
}

async function faultServer(fault: Fault = delivered): Promise<FaultServer> {
  const server = await FaultServer.start(() => fault)
  cleanUps.push(() => server.close())
  return server
}

async function receiver() {
  const started = await startTestReceiver()
  cleanUps.push(() => started.close())
  return { ...started, bucket: started.options.bucket }
}

const keptForLong: Fault = { ...(delivered as Fault & { type: 'answer' }), headers: { 'keep-alive': 'timeout=600' } }
const line = (number: number) =>
  JSON.stringify({ message: `${number}`, level: 'info', timeStamp: 1_700_000_000_000, appName: 'a' })

describe('a connection that has been idle', () => {
  it.each(['auto', 'off'] as const)('for 15 s is not used again (pipelining: %s)', async (pipelining) => {
    const server = await faultServer(keptForLong)
    const { clock, network, log, settled } = await deliverTo(server, { pipelining })
    log('1')
    await settled(1)
    await clock.advance(14_000)
    log('2')
    await settled(2)
    expect(network.connections).toBe(1)
    await clock.advance(15_000)
    log('3')
    await settled(3)
    expect(network.connections).toBe(2)
  })

  it.each(['auto', 'off'] as const)('for a second is not used by a drain (pipelining: %s)', async (pipelining) => {
    const server = await faultServer(keptForLong)
    const { clock, network, delivery, log, settled } = await deliverTo(server, { pipelining })
    log('1')
    await settled(1)
    await clock.advance(1000)
    network.forget()
    log('2')
    expect(await delivery.flush({ timeoutMs: 5000 })).toMatchObject({ delivered: 2, ambiguousRetries: 0 })
    expect(server.taken).toEqual(['1', '2'])
  })

  it('and is lost costs a record half a second, where the service knows a repeated request', async () => {
    const service = await receiver()
    const { clock, network, delivery, log, settled } = await deliverTo(service)
    log(line(1))
    await settled(1)
    await clock.advance(5000)
    network.forget()
    log(line(2))
    await clock.advance(499)
    expect(network.connections).toBe(1)
    await clock.advance(1)
    await settled(2)
    expect(network.connections).toBe(2)
    // The connection that is lost says nothing any more.
    await clock.advance(20_000)
    expect(delivery.stats()).toMatchObject({ delivered: 2, ambiguousRetries: 1, inFlight: 0 })
    expect((await service.logs()).map(({ message }) => message)).toEqual(['1', '2'])
  })

  it('and is lost costs a record its time-out, where the service may take a repeated request twice', async () => {
    const server = await faultServer(keptForLong)
    const { clock, network, log, settled } = await deliverTo(server)
    log('1')
    await settled(1)
    await clock.advance(5000)
    network.forget()
    log('2')
    await clock.advance(9999)
    expect(network.connections).toBe(1)
    await clock.advance(10_001)
    await settled(2)
    expect(server.taken).toEqual(['1', '2'])
  })
})

describe('a node of the service that goes silently', () => {
  it('takes no record with it at the end of the process, where the service knows a repeated request', async () => {
    const service = await receiver()
    const { clock, network, delivery, log, value, settled } = await deliverTo(service)
    for (let number = 0; number < 100; number++) log(line(number))
    await settled(100)
    network.forget()
    for (let number = 100; number < 400; number++) {
      log(line(number))
      if (number % 100 === 0) value(JSON.stringify({ eventId: number, timeStamp: 1_700_000_000_000, appName: 'a' }))
      if (number % 50 === 0) await clock.advance(10)
    }
    await clock.advance(1000)
    let ledger: unknown
    void delivery.close({ timeoutMs: 5000 }).then((last) => {
      ledger = last
    })
    for (let waited = 0; waited < 4500; waited += 100) {
      await clock.advance(100)
      // The service answers in real time.
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(ledger).toMatchObject({ delivered: 403, dropped: {} })
    expect(await service.logs()).toHaveLength(400)
    expect(await service.values()).toHaveLength(3)
  })
})
