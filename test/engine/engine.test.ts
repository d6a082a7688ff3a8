import { flush } from 'sluice'
import { SluiceTransport } from 'sluice/winston'
import { expect, it, onTestFinished } from 'vitest'
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
