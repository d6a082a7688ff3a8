import { afterEach, describe, expect, it } from 'vitest'
import { everything, full } from '../../../../test/support/full.js'
import { seeded } from '../../../../test/support/seeded.js'
import { killAll, ready } from '../processes.js'
import { Clients, storedKeys } from './clients.js'
import { startPair } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { stopServers } from './server.js'

afterEach(async () => {
  await killAll()
  await stopServers()
})

const seeds = Array.from({ length: everything ? 30 : full ? 3 : 1 }, (_, seed) => seed)
const load = { clients: 3, records: everything ? 6_667 : 300 }
const all = load.clients * load.records

async function startWithStandby() {
  const { database, ...pair } = await startPair()
  const receivers = [await ready('--database', database), await ready('--database', database)] as const
  const clients = new Clients({ receivers: receivers.map((each) => each.url), apiKey: receivers[0].apiKey! })
  return { ...pair, clients }
}

describe.skipIf(!postgresInstalled)(
  withPostgres('receivers on a primary and its standby'),
  { timeout: everything ? 600_000 : 120_000 },
  () => {
    it.each(seeds)(
      'have each record once on the standby that is promoted when the primary is killed: seed %i',
      async (seed) => {
        const random = seeded(seed)
        const { cluster, standby, standbyUrl, clients } = await startWithStandby()
        const sending = clients.send(load)
        const killedAfter = Math.floor(all * (0.1 + 0.8 * random()))
        await clients.until(() => clients.acknowledged.size > killedAfter)
        await cluster.primary.kill('SIGKILL')
        if (random() < 0.5) await clients.until(() => clients.refusals.size > 0)
        await standby.promote()
        await sending
        expect(clients.acknowledged.size).toBe(all)
        expect(await storedKeys(standbyUrl)).toEqual([...clients.acknowledged].sort())
      },
    )

    it.runIf(full)(
      'acknowledge nothing while the standby is frozen, answer 503, and go on when it continues',
      async () => {
        const { standby, url, standbyUrl, clients } = await startWithStandby()
        const [one, other] = clients.receivers as [string, string]
        expect(await clients.attempt('first', one)).toBe(201)
        await standby.server.kill('SIGSTOP')
        const attempts = ['first', 'a', 'b'].flatMap((key) => [clients.attempt(key, one), clients.attempt(key, other)])
        expect(await Promise.all(attempts)).toEqual(attempts.map(() => 503))
        // Each of them waits again: it is stored perhaps, and not known to be safe.
        const repeated = ['first', 'a', 'b'].map((key) => clients.attempt(key, one))
        expect(await Promise.all(repeated)).toEqual(repeated.map(() => 503))
        expect([...clients.acknowledged]).toEqual(['first'])
        await standby.server.kill('SIGCONT')
        for (const key of ['first', 'a', 'b', 'last']) {
          await expect.poll(() => clients.attempt(key, other)).toBe(201)
        }
        expect(await storedKeys(url)).toEqual(['a', 'b', 'first', 'last'])
        await expect.poll(() => storedKeys(standbyUrl)).toEqual(['a', 'b', 'first', 'last'])
      },
    )
  },
)
