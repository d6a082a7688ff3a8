import { flush } from 'sluice'
import { SluiceTransport } from 'sluice/winston'
import { expect, it, onTestFinished } from 'vitest'
import { Engine } from '../../src/engine/engine.js'
import { configure } from '../../src/process/configure.js'
import { FaultServer } from '../support/fault-server.js'

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

it('an engine without records tells what it has dropped at the end of the process', () => {
  const printed: string[] = []
  const { options } = configure({ url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'b' }, 'values')
  const engine = new Engine(options, { print: (text) => void printed.push(text) })
  engine.refuse('values')
  expect(engine.endSync()(0)).toBe(true)
  expect(printed).toEqual(['1 value record dropped (closed): logged after close()'])
})
