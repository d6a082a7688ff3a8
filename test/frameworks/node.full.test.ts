import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ExampleServer } from '../support/example-server.js'
import { placeOrders, serveOrders, sorted, upTo, writeVariables } from '../support/framework-course.js'
import { FrameworkExample } from '../support/framework-example.js'
import { closedGate } from '../support/gate.js'
import { ampleTime, listenTo, type Running } from '../support/programs.js'
import { startTestReceiver } from '../support/receiver.js'

let example: FrameworkExample
beforeAll(async () => {
  example = await FrameworkExample.install('node')
})
afterAll(() => example.remove())

describe('the server of the example node', () => {
  it('has its variables from node --env-file, loses no line at SIGTERM, and ends as without Sluice', async () => {
    const options = { stopsListening: false, byFile: true }
    const course = await serveOrders(example, options)
    const ended = { code: null, signal: 'SIGTERM', stdout: '', stderr: '' }
    expect(course).toEqual({ ended, orders: upTo(20), others: { listening: 1 }, events: Array(20).fill(1001) })
    expect((await serveOrders(example.withoutSluice(), options)).ended).toEqual(course.ended)
  })

  it('under node --watch, loses no line at a restart and at the end of the watcher', async () => {
    const receiver = await startTestReceiver()
    const gate = await closedGate(receiver.url)
    writeVariables(example, { ...receiver.variables, ...ampleTime, SLUICE_URL: gate.url })
    let watcher: Running | undefined
    const server = await ExampleServer.listening((PORT) => {
      watcher = example.start('dev', { PORT })
      return watcher
    })
    const said = listenTo(watcher!.process.stdout)
    await placeOrders(server, { from: 1, to: 10 })
    example.project.write('app.js', `${example.project.read('app.js')}// changed\n`)
    await said('Restarting')
    expect(await receiver.logs()).toEqual([])
    gate.open()
    const starts = async () => sorted((await receiver.logs()).map(({ message }) => message)).others.listening
    await vi.waitFor(async () => expect(await starts()).toBe(2), { timeout: 30_000, interval: 20 })
    expect(await receiver.logs('&text=order')).toHaveLength(10)
    await placeOrders(server, { from: 11, to: 20 })
    server.signal('SIGTERM')
    expect(await server.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    const { orders } = sorted((await receiver.logs()).map(({ message }) => message))
    expect(orders).toEqual(upTo(20))
    await receiver.close()
  })
})
