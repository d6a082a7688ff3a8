import { describe, expect, it, onTestFinished } from 'vitest'
import { resolve } from '../../../../src/options/resolve.js'
import { systemClock } from '../../../../src/runtime/clock.js'
import { FaultServer } from '../../../../test/support/fault-server.js'
import { LineSplitter } from '../../src/line-splitter.js'
import { Shipment } from '../../src/ship/shipment.js'

async function setUp(script?: Parameters<typeof FaultServer.start>[0]) {
  const server = await FaultServer.start(script)
  onTestFinished(() => server.close())
  const { options } = resolve(
    { url: server.url, apiKey: 'k', bucket: 'b', maxQueueRecords: 2, retryBaseMs: 10, retryCapMs: 20 },
    { environment: {}, needs: 'logs' },
  )
  const interruption = new AbortController()
  const said: string[] = []
  const shipment = new Shipment({
    options,
    clock: systemClock,
    say: (text) => said.push(text),
    stops: false,
    signal: interruption.signal,
  })
  onTestFinished(async () => void (await shipment.close(0)))
  const lines = (count: number) => {
    const text = Array.from({ length: count }, (_, number) => `line ${number}\n`).join('')
    return [...new LineSplitter().push(Buffer.from(text))]
  }
  return { server, shipment, interruption, said, lines }
}

describe('a shipment', () => {
  it('drops no record when several inputs wait for the same room', async () => {
    const { server, shipment, lines } = await setUp()
    const taken = await Promise.all(lines(100).map((line) => shipment.take(line, { always: false })))
    expect(taken.every(Boolean)).toBe(true)
    expect(await shipment.settle()).toBeUndefined()
    const { delivered, dropped } = await shipment.close(5000)
    expect({ delivered, full: dropped['queue-full'] }).toEqual({ delivered: 100, full: 0 })
    expect(server.taken).toHaveLength(100)
  })

  it('takes nothing after an interruption while the queue is full, but for a pipe', async () => {
    const { shipment, interruption, lines } = await setUp(() => ({ type: 'silence' }))
    const [first, second, third, fourth, fifth] = lines(5)
    for (const line of [first, second]) await shipment.take(line!, { always: false })
    const fromFile = shipment.take(third!, { always: false })
    const fromPipe = shipment.take(fourth!, { always: true })
    interruption.abort('interrupted')
    expect(await fromFile).toBe(false)
    expect(await shipment.settle()).toBeUndefined()
    // The time for the last lines of the pipe is over.
    shipment.hurry()
    expect(await fromPipe).toBe(true)
    expect(await shipment.take(fifth!, { always: true })).toBe(true)
    expect((await shipment.close(0)).accepted).toBe(4)
  })

  it('stops waiting for the answers when the service refuses the key', async () => {
    const { shipment, lines } = await setUp(() => ({ type: 'answer', status: 401 }))
    for (const line of lines(2)) await shipment.take(line, { always: true })
    expect(await shipment.settle()).toMatch(/^the key is missing or wrong \(401\)/)
  })
})
