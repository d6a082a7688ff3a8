import { expect, it, onTestFinished, vi } from 'vitest'
import { ExampleServer } from '../support/example-server.js'
import { placeOrders, sorted, upTo, writeVariables } from '../support/framework-course.js'
import { dies, testServer } from '../support/framework-tests.js'
import { gateTo } from '../support/gate.js'
import { ampleTime, listenTo, type Running } from '../support/programs.js'
import { startTestReceiver } from '../support/receiver.js'

const example = testServer('node', [
  { script: 'start', end: dies, stopsListening: false, byFile: true, others: { listening: 1 } },
])

it('node --watch loses no line of the example node at a restart and at its end', async () => {
  const receiver = await startTestReceiver()
  onTestFinished(() => receiver.close())
  const gate = await gateTo(receiver.url)
  writeVariables(example(), { ...receiver.variables, ...ampleTime, SLUICE_URL: gate.url })
  let watcher: Running | undefined
  const server = await ExampleServer.listening((PORT) => {
    watcher = example().start('dev', { PORT })
    return watcher
  })
  const said = listenTo(watcher!.process.stdout)
  await placeOrders(server, { from: 1, to: 10 })
  const { project } = example()
  project.write('app.js', `${project.read('app.js')}// changed\n`)
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
})
