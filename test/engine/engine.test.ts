import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { flush } from 'sluice'
import { SluiceTransport } from 'sluice/winston'
import { expect, it, onTestFinished } from 'vitest'
import { Engine } from '../../src/engine/engine.js'
import { configure } from '../../src/process/configure.js'
import { delivered, FaultServer } from '../support/fault-server.js'
import { settle } from '../support/virtual-clock.js'

const LEVEL = Symbol.for('level')

it.each(['worker', 'inline'] as const)(
  'a line that throws what has no text leaves a record, and throws nothing into the application, mode %s',
  async (mode) => {
    const server = await FaultServer.start()
    onTestFinished(() => server.close())
    const errors: string[] = []
    const options = { url: server.url, apiKey: 'k', bucket: 'b', mode }
    const transport = new SluiceTransport({ ...options, onError: ({ message }) => void errors.push(message) })
    transport.log({
      message: 'm',
      get [LEVEL](): string {
        throw Object.create(null)
      },
    })
    await flush()
    expect(server.taken.map((body) => (JSON.parse(body) as { message: string }).message)).toEqual([
      'sluice: a line could not be read',
    ])
    expect(errors).toEqual(['a line could not be read: a value that cannot be shown'])
    transport.close()
  },
)

it.each(['exits', 'is ended by a signal'])(
  'an engine tells all that it has dropped before a process %s',
  async (how) => {
    const printed: string[] = []
    const { options } = configure({ url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'b' }, 'values')
    const engine = new Engine(options, { print: (text) => void printed.push(text) })
    engine.refuse('values')
    await settle()
    for (let late = 0; late < 3; late++) engine.refuse('values')
    if (how === 'exits') expect(engine.endSync()(0)).toBe(true)
    else await engine.park()
    expect(printed).toEqual([
      '1 value record dropped (closed): logged after close()',
      '3 value records dropped (closed): logged after close()',
    ])
  },
)

it('an engine has room for a burst until half of it is taken', async () => {
  const { options } = configure({ url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'b', maxQueueRecords: 10 }, 'values')
  const engine = new Engine(options, { print: () => {} })
  for (let number = 0; number < 5; number++) engine.value(number, Date.now())
  expect(engine.isRoomy).toBe(true)
  engine.value(5, Date.now())
  expect(engine.isRoomy).toBe(false)
  await engine.close({ timeoutMs: 0, brief: true })
})

it('an engine says at an exit when the answers of the service need a process that goes on', async () => {
  const server = createServer((socket) =>
    socket.on('error', () => {}).once('data', () => socket.write('GOOD DAY\r\n\r\n')),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const { options } = configure({ url: `http://127.0.0.1:${port}`, apiKey: 'k', bucket: 'b' }, 'values')
  const engine = new Engine(options)
  engine.value(1, Date.now())
  const step = engine.endSync({ timeoutMs: 500 })
  while (!step(0)) await turn()
  const { queued, lanes } = engine.stats()
  expect(queued).toBe(1)
  expect(lanes.find(({ kind }) => kind === 'values')?.lastError).toMatch(
    /^an answer is not understood \(.+\), and an exit has no other reader: await close\(\) before it$/,
  )
})

it('an engine says at an exit when its thread had no time to start', async () => {
  const { options } = configure({ url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'b' }, 'values')
  const engine = new Engine(options, { print: () => {} })
  engine.value(1, Date.now())
  expect(engine.endSync({ timeoutMs: 1 })(0)).toBe(true)
  expect(engine.stats().lanes.find(({ kind }) => kind === 'values')?.lastError).toBe(
    'the thread that delivers at the exit did not start in time',
  )
})

it('an engine at an exit takes the end of its own connections for no failure of the service', async () => {
  const server = await FaultServer.start()
  onTestFinished(() => server.close())
  const arrived = new Promise<void>((arrive) => {
    server.script = () => {
      arrive()
      return { type: 'silence' }
    }
  })
  const { options } = configure({ url: server.url, apiKey: 'k', bucket: 'b' }, 'values')
  const engine = new Engine(options)
  engine.value(1, Date.now())
  await arrived
  server.script = () => delivered
  const step = engine.endSync({ timeoutMs: 5000 })
  const { lanes, ambiguousRetries } = engine.stats()
  const values = lanes.find(({ kind }) => kind === 'values')
  expect(values).toMatchObject({ state: 'open', lastError: 'the service did not answer in time' })
  expect(ambiguousRetries).toBe(1)
  while (!step(0)) await turn()
  expect(engine.stats()).toMatchObject({ delivered: 1, queued: 0 })
})
