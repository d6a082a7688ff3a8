import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ExampleServer } from '../../support/example-server.js'
import { rowsOf } from '../../support/full.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

interface Lines {
  /** Lines of one order, and of one request that fails. */
  readonly order: readonly string[]
  readonly broken?: readonly string[]
  readonly status: number
}

const servers: Readonly<Record<string, Lines>> = {
  'cluster.js': { order: ['info order placed'], status: 200 },
  'express.js': {
    order: ['info order placed', 'info request'],
    broken: ['error request failed', 'error request'],
    status: 201,
  },
  'fastify.js': {
    order: ['info order placed', 'info request'],
    broken: ['error out of stock', 'error request'],
    status: 201,
  },
}

/** Level and text of what requests have logged, without fields and stacks. */
async function arrived(): Promise<string[]> {
  const lines = (await receiver.logs()).map(({ level, message }) => `${level} ${message.split(/ ?[{\n]/)[0]}`)
  return lines.filter((line) => !line.startsWith('info Server listening')).sort()
}

describe.each(rowsOf(Object.entries(servers), ([name]) => name === 'fastify.js'))(
  'the example %s',
  (file, { order, broken, status }) => {
    it('delivers what its requests have logged, that of the last one, which SIGTERM found under way, too', async () => {
      const server = await ExampleServer.start(file, { ...receiver.variables, PROCESSES: '2' })
      expect(await server.ask('POST', '/orders', { id: 1 })).toMatchObject({ status })
      if (broken !== undefined) expect(await server.ask('GET', '/broken')).toMatchObject({ status: 500 })
      const last = await server.begin({ id: 2 })
      await server.terminate()
      const answeredAt = performance.now()
      expect(await last.finish()).toMatchObject({ status })
      expect(await server.ended).toEqual({ code: 0, signal: null, stdout: '', stderr: '' })
      expect(performance.now() - answeredAt).toBeLessThan(5000)
      expect(await arrived()).toEqual([...order, ...(broken ?? []), ...order].sort())
      expect((await receiver.values()).map(({ eventId }) => eventId)).toEqual([1001, 1001])
    })
  },
)
