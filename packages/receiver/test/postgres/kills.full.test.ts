import { afterEach, describe, expect, it } from 'vitest'
import { everything, full } from '../../../../test/support/full.js'
import { killAll, ready } from '../processes.js'
import { caller } from '../support.js'
import { Clients, storedKeys } from './clients.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { stopServers } from './server.js'

afterEach(async () => {
  await killAll()
  await stopServers()
})

const load = { clients: 3, records: everything ? 6_667 : 300 }
const all = load.clients * load.records

async function startTwo() {
  const cluster = await Cluster.start()
  const url = await cluster.createDatabase()
  const receivers = [await ready('--database', url), await ready('--database', url)] as const
  const apiKey = receivers[0].apiKey!
  const clients = new Clients({ receivers: receivers.map((each) => each.url), apiKey })
  return { cluster, url, receivers, clients, apiKey }
}

/** Every 201 exactly once, and nothing else. */
async function expectLedger(clients: Clients, url: string): Promise<void> {
  expect(clients.acknowledged.size).toBe(all)
  expect(await storedKeys(url)).toEqual([...clients.acknowledged].sort())
}

describe.skipIf(!postgresInstalled)(
  withPostgres('two receivers on one PostgreSQL'),
  { timeout: everything ? 600_000 : 120_000 },
  () => {
    it('have each record once that was acknowledged when one of them is killed under load', async () => {
      const { url, receivers, clients, apiKey } = await startTwo()
      const sending = clients.send(load)
      await clients.until(() => clients.acknowledged.size > all / 3)
      receivers[0].child.kill('SIGKILL')
      await sending
      await expectLedger(clients, url)
      const { body } = await caller({ url: receivers[1].url, apiKey })('GET', '/api/logs/demo?limit=1')
      expect(body.total).toBe(all)
    })

    it.runIf(full)('answer 503 while PostgreSQL is dead, and go on by themselves when it is back', async () => {
      const { cluster, url, receivers, clients, apiKey } = await startTwo()
      const sending = clients.send(load)
      await clients.until(() => clients.acknowledged.size > all / 3)
      await cluster.primary.kill('SIGKILL')
      const [one, other] = clients.receivers as [string, string]
      await clients.until(() => clients.refusals.has(one) && clients.refusals.has(other))
      const { status } = await caller({ url: one, apiKey })('GET', '/api/ready')
      expect(status).toBe(503)
      expect((await caller({ url: one, apiKey })('GET', '/api/health')).status).toBe(200)
      await cluster.primary.restart()
      await sending
      await expectLedger(clients, url)
      for (const receiver of receivers) {
        const call = caller({ url: receiver.url, apiKey })
        await expect.poll(async () => (await call('GET', '/api/ready')).status).toBe(200)
        expect((await call('GET', '/api/logs/demo?limit=1')).body.total).toBe(all)
      }
    })

    it.runIf(full)('have each record once when everything is killed and started again', async () => {
      const { cluster, url, receivers, clients } = await startTwo()
      const sending = clients.send(load)
      await clients.until(() => clients.acknowledged.size > all / 3)
      await cluster.primary.kill('SIGKILL')
      for (const { child } of receivers) child.kill('SIGKILL')
      await Promise.all(receivers.map(({ exit }) => exit))
      await cluster.primary.restart()
      clients.receivers.splice(0, 2, (await ready('--database', url)).url, (await ready('--database', url)).url)
      await sending
      await expectLedger(clients, url)
    })
  },
)
