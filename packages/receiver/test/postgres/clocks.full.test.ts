import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { killAll, readyWith } from '../processes.js'
import { caller, log } from '../support.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { stopServers } from './server.js'

const yearMs = 365 * 24 * 60 * 60 * 1000

/** A receiver on a machine whose clock differs by this time. */
function receiverWith(clockMs: number, ...args: string[]) {
  const program = `const now = Date.now; Date.now = () => now() + ${clockMs}`
  const variables = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` }
  return readyWith(variables, ...args)
}

describe.skipIf(!postgresInstalled)(withPostgres('receivers whose clocks differ by years'), { timeout: 60_000 }, () => {
  afterEach(killAll)
  afterAll(stopServers)

  it('know each other’s keys, keep what is new, and list records in the order of their receipt', async () => {
    const database = await (await Cluster.start()).createDatabase()
    const retain = ['--retain', '7d', '--database', database]
    const receivers = [
      await receiverWith(0, ...retain),
      await receiverWith(yearMs, ...retain),
      await receiverWith(-yearMs, ...retain),
    ]
    const apiKey = receivers[0]!.apiKey
    const calls = receivers.map(({ url }) => caller({ url, apiKey }))
    const messages = Array.from({ length: 9 }, (_, number) => `record ${number}`)
    for (const [number, message] of messages.entries()) {
      const key = { 'idempotency-key': message }
      const attempts = [number, number + 1].map((turn) =>
        calls[turn % 3]!('POST', '/logs/demo', { ...log, message }, key),
      )
      expect((await Promise.all(attempts)).map(({ status }) => status)).toEqual([201, 201])
    }
    for (const call of calls) {
      const { list } = (await call('GET', '/api/logs/demo')).body as { list: { message: string; receivedAt: string }[] }
      expect(list.map(({ message }) => message)).toEqual([...messages].reverse())
      for (const { receivedAt } of list) expect(Math.abs(Date.parse(receivedAt) - Date.now())).toBeLessThan(3_600_000)
      expect((await call('GET', '/api/ready')).status).toBe(200)
    }
  })
})
