import { afterEach, describe, expect, it } from 'vitest'
import { PostgresStorage } from '../../dist/storage/postgres/postgres-storage.js'
import { newRecord } from '../contract/stores.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { queryOf, stopServers } from './server.js'

afterEach(stopServers)

describe.skipIf(!postgresInstalled)(withPostgres('stores on an empty database'), () => {
  it('all start, also at the same time', async () => {
    const cluster = await Cluster.start()
    for (let round = 0; round < 3; round++) {
      const url = await cluster.createDatabase()
      const stores = await Promise.all(Array.from({ length: 6 }, () => PostgresStorage.open(url)))
      const positions = await Promise.all(stores.map(({ records }) => records.position({ bucket: 'demo' })))
      expect(new Set(positions.map(({ store }) => store)).size).toBe(1)
      await Promise.all(stores.map((store) => store.close()))
    }
  })

  it('need the right to make tables in the schema, and no other', async () => {
    const cluster = await Cluster.start()
    const url = await cluster.createDatabase()
    await queryOf(url, 'CREATE ROLE shop LOGIN')
    const own = new URL(url)
    own.username = 'shop'
    await expect(PostgresStorage.open(own.href)).rejects.toThrow('permission denied for schema public')
    await queryOf(url, 'GRANT CREATE ON SCHEMA public TO shop')
    const store = await PostgresStorage.open(own.href)
    await store.records.append(newRecord('logs', { bucket: 'demo' }))
    expect(await store.records.read({ kind: 'logs', bucket: 'demo', limit: 1 })).toMatchObject({ total: 1 })
    expect(await store.bytes()).toBeGreaterThan(0)
    await store.close()
  })
})
