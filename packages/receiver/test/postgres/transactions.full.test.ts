import { afterAll, describe, expect, it } from 'vitest'
import { Servers } from '../../dist/storage/postgres/servers.js'
import { Transactions } from '../../dist/storage/postgres/transactions.js'
import { StoreUnavailableError } from '../../dist/storage/store-unavailable.js'
import { times } from '../contract/stores.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { stopServers } from './server.js'

/** Connections for writing. */
const all = 9

function gate(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((open) => {
    resolve = open
  })
  return { promise, resolve }
}

describe.skipIf(!postgresInstalled)(withPostgres('a transaction that takes too long'), { timeout: 60_000 }, () => {
  afterAll(stopServers)

  it('leaves the connection alone that it has given back, and that another one uses', async () => {
    const servers = new Servers(await (await Cluster.start()).createDatabase())
    const patient = new Transactions(servers, { deadlineMs: 30_000 })
    const hasty = new Transactions(servers, { deadlineMs: 500 })
    const given = gate()
    const over = gate()
    const held = times(all - 1, () => gate())
    const holding = held.map(({ resolve }) =>
      patient.run(async () => {
        resolve()
        await over.promise
      }),
    )
    await Promise.all(held.map(({ promise }) => promise))
    let attempts = 0
    let other: Promise<string> | undefined
    const failing = hasty.run(async () => {
      attempts++
      // It waits for the connection of this attempt, which another transaction has made fail.
      other = patient.run(async (client) => {
        given.resolve()
        await over.promise
        await client.query('SELECT 1')
        return 'done'
      })
      await new Promise(setImmediate)
      throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
    })
    await expect(failing).rejects.toBeInstanceOf(StoreUnavailableError)
    await given.promise
    over.resolve()
    expect(attempts).toBe(1)
    expect(await other).toBe('done')
    await Promise.all(holding)
    await servers.close()
  })
})
