import { afterAll, describe, expect, it } from 'vitest'
import { ShardedStorage } from '../../dist/storage/postgres/sharded-storage.js'
import { StoreUnavailableError } from '../../dist/storage/store-unavailable.js'
import { newRecord, times } from '../contract/stores.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { queryOf, stopServers } from './server.js'

describe.skipIf(!postgresInstalled)(withPostgres('a shard that is away at the start'), { timeout: 60_000 }, () => {
  afterAll(stopServers)

  it('is used once it can be, also if it comes back with a table that is not as it must be: until then its records are refused', async () => {
    const [stays, returns] = [await Cluster.start(), await Cluster.start()]
    const urls = [await stays.createDatabase(), await returns.createDatabase()]
    const [, url] = urls
    await queryOf(url!, 'CREATE TABLE sluice_version (one integer PRIMARY KEY)')
    await returns.primary.kill('SIGKILL')
    const storage = await ShardedStorage.open(urls)
    const send = async () => {
      const records = times(20, (number) => newRecord('logs', { bucket: 'demo', idempotencyKey: `${number}` }))
      const settled = await Promise.allSettled(records.map((record) => storage.records.append(record)))
      return settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []))
    }
    await returns.primary.restart()
    await expect.poll(async () => (await send())[0]?.message).toContain('more expressions than target columns')
    for (const failure of await send()) expect(failure).toBeInstanceOf(StoreUnavailableError)
    await queryOf(url!, 'DROP TABLE sluice_version')
    await expect.poll(send).toEqual([])
    expect(await storage.records.read({ kind: 'logs', bucket: 'demo', limit: 100 })).toMatchObject({ total: 20 })
    await storage.close()
  })
})
