import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ExampleServer } from '../../support/example-server.js'
import { full } from '../../support/full.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

let receiver: TestReceiver
let server: ExampleServer
beforeEach(async () => {
  receiver = await startTestReceiver()
  server = await ExampleServer.start('cluster.js', { ...receiver.variables, PROCESSES: '2' })
})
afterEach(() => receiver.close())

/** Place orders until so many workers have answered; the answer is the number of orders. */
async function ordersOf(workers: number): Promise<number> {
  const answers: string[] = []
  const placed = async () => {
    answers.push((await server.ask('POST', '/orders', { id: answers.length })).body)
    expect(new Set(answers).size).toBe(workers)
  }
  await vi.waitFor(placed, { timeout: 10_000, interval: 1 })
  return answers.length
}

const messages = async () => (await receiver.logs()).map(({ message }) => message)

// Workers are found in /proc.
describe.runIf(process.platform === 'linux')('the example cluster.js', () => {
  it('delivers the lines and events of all workers', async () => {
    const orders = await ordersOf(2)
    await server.terminate()
    expect(await server.ended).toEqual({ code: 0, signal: null, stdout: '', stderr: '' })
    const lines = await messages()
    expect(lines).toHaveLength(orders)
    expect(new Set(lines.map((line) => /"worker":\d/.exec(line)?.[0]))).toEqual(new Set(['"worker":1', '"worker":2']))
    expect(await receiver.values()).toHaveLength(orders)
  })

  it.runIf(full)('answers what is under way when the signal goes to the workers, too', async () => {
    await ordersOf(2)
    const last = await server.begin({ id: 'last' })
    for (const worker of server.children) process.kill(worker, 'SIGTERM')
    await server.terminate()
    // Its sibling has nothing under way, and goes.
    await vi.waitFor(() => expect(server.children.length).toBeLessThan(2), { timeout: 5000 })
    expect(await last.finish()).toMatchObject({ status: 200 })
    expect(await server.ended).toEqual({ code: 0, signal: null, stdout: '', stderr: '' })
    expect(await messages()).toContainEqual(expect.stringContaining('"order":{"id":"last"}'))
  })

  it.runIf(full)('puts another worker in the place of one that is killed, and says so', async () => {
    await ordersOf(2)
    const before = server.children
    process.kill(before[0]!, 'SIGKILL')
    // Until the primary knows, it gives the dead one its share of the connections.
    await vi.waitFor(() => expect(server.children).toEqual([before[1], expect.any(Number)]), { timeout: 10_000 })
    await vi.waitFor(
      async () => expect((await server.ask('POST', '/orders', { id: 1 })).body).toBe('thank you, says worker 3\n'),
      { timeout: 10_000 },
    )
    await server.terminate()
    expect(await server.ended).toMatchObject({ code: 0, stderr: '' })
    const deaths = (await receiver.logs()).filter(({ level }) => level === 'error').map(({ message }) => message)
    expect(deaths).toEqual(['a worker has died {"died":1,"code":null,"signal":"SIGKILL"}'])
  })
})
