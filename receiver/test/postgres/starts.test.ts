import { afterEach, describe, expect, it } from 'vitest'
import { PostgresStorage } from '../../dist/storage/postgres/postgres-storage.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { stopServers } from './server.js'

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
})
